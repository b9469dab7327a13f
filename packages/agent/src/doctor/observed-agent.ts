/** What a doctor knows of an agent: gathered without changing a byte, and judged elsewhere. */
import type { AgentStatusAnswer, FileFact } from '@rollcall/wire';

export interface ObservedAgent {
  readonly directory: string;
  readonly uid: number;
  readonly directoryFact: FileFact;
  /** Why no file can be made in it; `null` where one can. */
  readonly directoryUnwritable: string | null;
  readonly slots: readonly SlotFact[];
  readonly socketPathBytes: number;
  readonly freeBytes: number | null;
  readonly nowMs: number;
  /** `null` where no slot could be read. */
  readonly identity: AgentIdentity | null;
  /** What each of its hubs answered to a question that anyone may ask. */
  readonly hubs: readonly ProbedHub[];
  /** Files that a configuration names, with what is secret in them. */
  readonly given: readonly GivenFile[];
  /** Token files that a configuration names. */
  readonly sinks?: readonly GivenSink[];
  /** What the agent on the socket says; `null` where none answers. */
  readonly running: AgentStatusAnswer | null;
}

export interface SlotFact {
  readonly path: string;
  readonly fact: FileFact;
  /** `unread`: it could not be opened; `newer`: a later version wrote it. */
  readonly content: 'absent' | 'whole' | 'torn' | 'unread' | 'newer';
}

export interface AgentIdentity {
  readonly host: string;
  /** Base64url, as the hub-root file has it. */
  readonly hubRoot: string;
  /** Whether it holds something to present, or to redeem. */
  readonly canSpeak: boolean;
}

export interface ProbedHub {
  readonly url: string;
  /** `null`: it answered, and proved that it is the hub. */
  readonly failure: {
    readonly code: 'hub_unreachable' | 'hub_timeout' | 'hub_untrusted';
    readonly reason: string;
  } | null;
  /** The time of its answer, to the second. */
  readonly dateMs: number | null;
  /** This machine's clock at that moment. */
  readonly localMs: number;
}

export interface GivenFile {
  readonly key: 'enrol' | 'master_file' | 'hub_root_file';
  readonly path: string;
  readonly fact: FileFact;
  /** Of a hub-root file, base64url; `null` where it is none. */
  readonly root?: string | null;
}

export interface GivenSink {
  readonly name: string;
  readonly path: string;
  /** `foreign`: something is at the path, and it is no link. */
  readonly kind: 'absent' | 'link' | 'foreign' | 'unknown';
  /** The directory that it lies in. */
  readonly parent: FileFact;
  /** Whoever may write in it may remove what is his alone. */
  readonly isSticky: boolean;
}
