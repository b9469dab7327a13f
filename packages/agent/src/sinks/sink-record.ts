/** What an agent remembers of its sinks across starts: one small file in the state directory, replaced whole. */
import { utf8 } from '@rollcall/core/bytes';
import { RollcallError } from '@rollcall/core/errors';
import {
  canonicalJson,
  type JsonObject,
  type JsonValue,
  parseJson,
  readArray,
  readInteger,
  readMember,
  readObject,
  readText,
} from '@rollcall/core/json';
import { limits } from '@rollcall/core/limits';
import type { Files } from '@rollcall/core/ports';
import { systemCode } from '../state/files-on-disk.ts';
import { writeNewFile } from '../state/write-new-file.ts';
import type { SinkRecord, WrittenSink } from './plan-sink.ts';

const FORMAT = 1;
const FILE = 'sinks.json';
const TEMPORARY = 'sinks.tmp';

/** By name of the sink. Throws `sink_record_unusable`: unreadable is not absent. */
export async function loadRecords(
  files: Pick<Files, 'read'>,
  directory: string,
): Promise<ReadonlyMap<string, SinkRecord>> {
  try {
    const json = parseJson(await files.read(`${directory}/${FILE}`, limits.stateFileMaxBytes));
    const value = readObject(json, 'sinks');
    if (readInteger(readMember(value, 'format'), 'format') !== FORMAT) throw new Error('another format');
    const records = readArray(readMember(value, 'sinks'), 'sinks', limits.sinksPerHost).map(parseRecord);
    return new Map(records.map((record) => [record.name, record]));
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return new Map();
    throw unusable(error);
  }
}

export async function saveRecords(
  files: Pick<Files, 'create' | 'remove' | 'rename' | 'syncDirectory'>,
  directory: string,
  records: ReadonlyMap<string, SinkRecord>,
): Promise<void> {
  const json = { format: FORMAT, sinks: [...records.values()].map(encodeRecord) };
  try {
    await writeNewFile(files, `${directory}/${TEMPORARY}`, utf8(`${canonicalJson(json)}\n`));
    await files.rename(`${directory}/${TEMPORARY}`, `${directory}/${FILE}`);
    await files.syncDirectory(directory);
  } catch (error) {
    await files.remove(`${directory}/${TEMPORARY}`).catch(() => undefined);
    throw unusable(error);
  }
}

function unusable(error: unknown): RollcallError {
  return new RollcallError('sink_record_unusable', { cause: systemCode(error) ?? 'damaged' }, { cause: error });
}

function encodeRecord({ name, path, written, writing, isReloadDue }: SinkRecord): JsonObject {
  return {
    name,
    path,
    isReloadDue,
    ...(written === undefined ? {} : { written: { ...written } }),
    ...(writing === undefined ? {} : { writing }),
  };
}

function parseRecord(json: JsonValue): SinkRecord {
  const value = readObject(json, 'sink');
  const written = readMember(value, 'written');
  return {
    name: text(value, 'name'),
    path: text(value, 'path'),
    isReloadDue: readMember(value, 'isReloadDue') === true,
    ...(written === undefined ? {} : { written: parseWritten(readObject(written, 'written')) }),
    ...(readMember(value, 'writing') === undefined ? {} : { writing: text(value, 'writing') }),
  };
}

function parseWritten(value: JsonObject): WrittenSink {
  return {
    epoch: readInteger(readMember(value, 'epoch'), 'epoch', 0),
    step: readInteger(readMember(value, 'step'), 'step', 0),
    version: readInteger(readMember(value, 'version'), 'version'),
    directory: text(value, 'directory'),
    digest: text(value, 'digest'),
    looks: text(value, 'looks'),
    wanted: text(value, 'wanted'),
    ...(readMember(value, 'former') === undefined ? {} : { former: text(value, 'former') }),
  };
}

function text(value: JsonObject, member: string): string {
  return readText(readMember(value, member), member, limits.sinkPathCharacters);
}
