/** Everything that a command reaches for outside itself: streams, files, the hub's socket, time. Built in `main.ts`. */
import type { Clock, FileStat } from '@rollcall/core/ports';
import type { Parts } from './optional-package.ts';

export interface OutputStream {
  write(text: string): void;
  readonly isTerminal: boolean;
  /** Of a terminal; `undefined` elsewhere. */
  readonly columns: number | undefined;
  readonly rows: number | undefined;
}

export interface InputStream {
  readonly isTerminal: boolean;
  /** All of it; more than `maxBytes` is an error with code `EFBIG`. */
  read(maxBytes: number): Promise<Uint8Array>;
  /** One line typed by the person at the terminal, the question having been written to standard error. */
  ask(question: string): Promise<string>;
}

/** Reading alone: what a command line writes, the hub and the agent write. */
export interface InputFiles {
  read(path: string, maxBytes: number): Promise<Uint8Array>;
  stat(path: string): Promise<FileStat>;
}

/** Where a hub listens for operators. Over TLS it is known by its key alone, which the hub-root file names. */
export type HubAddress =
  | { readonly kind: 'socket'; readonly path: string }
  | {
      readonly kind: 'tls';
      readonly host: string;
      readonly port: number;
      /** SHA-256 of each SubjectPublicKeyInfo that the hub may show. */
      readonly spki: readonly Uint8Array[];
    };

export interface SocketRequest {
  readonly to: HubAddress;
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
  readonly maxBytes: number;
  /** Aborted when the deadline passes. */
  readonly signal: AbortSignal;
}

export interface SocketAnswer {
  readonly status: number;
  readonly contentType: string;
  readonly body: Uint8Array;
}

/**
 * Rejects with the system's error, `code` included; `EFBIG` for an answer above `maxBytes`; `hub_untrusted` before a byte of
 * the request has left, where the peer is not the hub.
 */
export type SendRequest = (request: SocketRequest) => Promise<SocketAnswer>;

export interface Io {
  readonly stdout: OutputStream;
  readonly stderr: OutputStream;
  readonly stdin: InputStream;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Name of the user of the operating system: declared, not verified. */
  readonly user: string;
  readonly version: string;
  readonly clock: Clock;
  readonly files: InputFiles;
  readonly send: SendRequest;
  readonly parts: Parts;
}
