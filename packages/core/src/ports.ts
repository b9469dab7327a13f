/**
 * Ports: everything that a decision must not reach for by itself. Production adapters are small and
 * are built only in `main.ts` files; the simulator brings its own (design 2).
 */

/** Time. Every span and instant is in milliseconds. */
export interface Clock {
  /** Wall clock, Unix milliseconds. May jump in either direction. */
  now(): number;
  /** Milliseconds that only grow, from an arbitrary origin; counts suspended time where the system can. */
  monotonic(): number;
  /** Resolves after `ms`, or at once with `signal` aborted. Never rejects. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** Runs `task` once after `ms`; the returned function cancels it. */
  after(ms: number, task: () => void): () => void;
}

/** `n` random bytes fit for keys. */
export type Random = (n: number) => Uint8Array;

/** What a file is, as far as trust in it depends on it. */
export interface FileStat {
  readonly kind: 'file' | 'directory' | 'socket' | 'other';
  /** Permission bits, for example 0o600. */
  readonly mode: number;
  readonly uid: number;
  readonly size: number;
}

/** An open file that is being written. Every method rejects with the system's error, `code` included. */
export interface WritableFile {
  /** Returns how many bytes were taken; may be fewer than given. */
  write(bytes: Uint8Array): Promise<number>;
  sync(): Promise<void>;
  close(): Promise<void>;
}

/** Files. Errors carry the system's `code` (`ENOENT`, `EACCES`, `ENOSPC`, …). */
export interface Files {
  /** At most `maxBytes`; a larger file is an error with code `EFBIG`. */
  read(path: string, maxBytes: number): Promise<Uint8Array>;
  stat(path: string): Promise<FileStat>;
  list(path: string): Promise<readonly string[]>;
  /** Creates exclusively (`EEXIST` when there) with `mode`, whatever the umask. */
  create(path: string, mode: number): Promise<WritableFile>;
  makeDirectory(path: string, mode: number): Promise<void>;
  rename(from: string, to: string): Promise<void>;
  remove(path: string): Promise<void>;
  syncDirectory(path: string): Promise<void>;
}

/** The four levels that are logged. Fields must never hold a secret (I12). */
export interface Log {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
}

export type LogFields = Readonly<Record<string, string | number | boolean | null | undefined | readonly string[]>>;

/** How the peer is judged before a byte is sent to it (design 11). Digests are SHA-256 of a SubjectPublicKeyInfo. */
export type PeerTrust =
  /** First contact: the key is one that an operator handed over. */
  | { readonly kind: 'spki'; readonly spki: readonly Uint8Array[] }
  /** Afterwards: exact SAN and chain always; a known key stands in for the dates only. */
  | {
      readonly kind: 'chain';
      readonly trustDomain: string;
      /** Roots in DER. */
      readonly roots: readonly Uint8Array[];
      readonly knownSpki: readonly Uint8Array[];
    };

export interface TransportRequest {
  /** `https://host[:port]`, without a path. */
  readonly url: string;
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Shared tokens: each is sent in an `X-Node-Token` line of its own. */
  readonly tokens?: readonly string[];
  readonly body?: Uint8Array;
  readonly judge: PeerTrust;
}

export interface TransportAnswer {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

/**
 * Requests to the hub. Rejects with `hub_unreachable`, `hub_timeout`, `hub_untrusted` or `hub_answer_unusable`; an answer
 * of any status is an answer. Redirects are never followed.
 */
export interface Transport {
  request(request: TransportRequest, signal?: AbortSignal): Promise<TransportAnswer>;
}
