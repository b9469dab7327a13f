/** What SQLite committed, read off its write-ahead log: exact, and without a tool (sqlite.org/fileformat2.html §4). */
import { readFileSync } from 'node:fs';

export interface WriteAheadLog {
  /** Names this run of the log: after a checkpoint a new one begins, and counts are not comparable. */
  readonly salt: string;
  readonly commits: number;
  readonly frames: number;
}

const HEADER_BYTES = 32;
const FRAME_HEADER_BYTES = 24;

export function readWriteAheadLog(database: string): WriteAheadLog {
  const bytes = readFileSync(`${database}-wal`);
  const pageBytes = bytes.readUInt32BE(8);
  const salt = bytes.toString('hex', 16, 24);
  let commits = 0;
  let frames = 0;
  for (
    let at = HEADER_BYTES;
    at + FRAME_HEADER_BYTES + pageBytes <= bytes.length;
    at += FRAME_HEADER_BYTES + pageBytes
  ) {
    // A frame of an earlier run of the log ends this one.
    if (bytes.toString('hex', at + 8, at + 16) !== salt) break;
    frames += 1;
    // The size of the database after a commit; 0 in every other frame.
    if (bytes.readUInt32BE(at + 4) !== 0) commits += 1;
  }
  return { salt, commits, frames };
}
