/** Keeps every byte that left the product: answers with their headers, output, logs, arguments of processes. */

/** `response`: of any listener. `file`: content of a file that is not a secret store. */
export type RecordedFrom = 'response' | 'stdout' | 'stderr' | 'arguments' | 'file';

export interface Recorded {
  readonly from: RecordedFrom;
  /** What produced it: `rollcall host add`, `agent-1`, `POST /v1/heartbeat`. */
  readonly label: string;
  readonly bytes: Buffer;
}

export interface Recorder {
  keep(from: RecordedFrom, label: string, bytes: Uint8Array): void;
  /** For output that comes in pieces: one record, so that no search is blind at a boundary. */
  stream(from: RecordedFrom, label: string): { readonly push: (chunk: Buffer) => void; readonly text: () => string };
  all(): readonly Recorded[];
}

export function createRecorder(): Recorder {
  const whole: Recorded[] = [];
  const streams: { readonly from: RecordedFrom; readonly label: string; readonly chunks: Buffer[] }[] = [];
  return {
    keep: (from, label, bytes) => {
      whole.push({ from, label, bytes: Buffer.from(bytes) });
    },
    stream: (from, label) => {
      const chunks: Buffer[] = [];
      streams.push({ from, label, chunks });
      return { push: (chunk) => void chunks.push(chunk), text: () => Buffer.concat(chunks).toString('utf8') };
    },
    all: () => [...whole, ...streams.map(({ chunks, ...at }) => ({ ...at, bytes: Buffer.concat(chunks) }))],
  };
}
