/** What the demo asks of its thief, and what the thief reports: messages between two processes. */
import type { Envelope } from '@rollcall/core/seal';

/** What the thief does to the network that it owns. */
export type NetworkMode =
  /** Passes all bytes on, as an honest network would. */
  | 'carry'
  /** Goes on with the connections that stand, and lets new ones wait. */
  | 'hold'
  /** Leads new connections to the thief's own server, and ends those that stand. */
  | 'divert';

export interface ThiefActs {
  /** Beats as `host` with what the stolen master derives for it, with or without a wrap key of the thief's own. */
  readonly beat: { readonly ask: { readonly host: string; readonly publish: boolean }; readonly answer: BeatReport };
  /** Tries to open an envelope with the thief's own key; and, as a control, one that is sealed to that key. */
  readonly open: {
    readonly ask: { readonly envelope: Envelope };
    readonly answer: { readonly stolen: string; readonly own: string };
  };
  /** With `hold`, so many new connections are let through first. */
  readonly network: {
    readonly ask: { readonly mode: NetworkMode; readonly letPass?: number };
    readonly answer: object;
  };
  /** Sets up a server that says it is the hub and answers every beat with `envelope`. */
  readonly impersonate: {
    readonly ask: { readonly envelope: Envelope; readonly trustDomain: string };
    readonly answer: object;
  };
  /** Calls that server as a client that trusts anyone: the control. */
  readonly callImpostor: {
    readonly ask: object;
    readonly answer: { readonly status: number; readonly deliveries: number };
  };
  readonly report: { readonly ask: object; readonly answer: ThiefReport };
}

export type ActName = keyof ThiefActs;
export type Ask<Act extends ActName> = ThiefActs[Act]['ask'];
export type Answer<Act extends ActName> = ThiefActs[Act]['answer'];

export interface BeatReport {
  readonly status: number;
  /** Fingerprint of the wrap key that was published. */
  readonly published: string | null;
  /** The body, where it was not 200. */
  readonly refusal: string | null;
  readonly pin: { readonly state: string; readonly fingerprint?: string } | null;
  readonly deliveries: readonly Envelope[];
}

export interface ThiefReport {
  /** Beats that were sent, by what came back. */
  readonly beats: Readonly<Record<string, number>>;
  /** TLS connections that reached the impostor, and requests that came through one. */
  readonly impostor: { readonly connections: number; readonly requests: number };
}

export interface ThiefRequest {
  readonly id: number;
  readonly act: ActName;
  readonly ask: unknown;
}

/** The first message says where the thief's network is to be entered. */
export type ThiefMessage =
  | { readonly networkPort: number }
  | { readonly id: number; readonly answer: unknown }
  | { readonly id: number; readonly failure: string };
