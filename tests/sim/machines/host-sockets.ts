/** What a simulated host has of the network for its own listener: a place that takes requests while it is open. */
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { createHostHandler, type HostSockets } from '@rollcall/agent';
import { RollcallError } from '@rollcall/core/errors';
import type { Scheduler } from '../engine/scheduler.ts';

/** One request to a listener: headers alone, since no route of it needs more. */
export interface HostCall {
  readonly from: string;
  readonly path: string;
  readonly rawHeaders: readonly string[];
}

/** The status that was answered; `undefined`: there was nobody, or the connection was cut. */
export type CallOutcome = number | undefined;

export class HostPlace {
  /** A program that lets everybody in stands where the listener should. */
  takesAnything = false;
  /** What the agent itself has answered last. */
  answered: CallOutcome;
  #handle: RequestListener | undefined;

  get isOpen(): boolean {
    return this.#handle !== undefined;
  }

  /** The sockets of one process of an agent. `onAsked`: what it found at itself. */
  sockets(scheduler: Scheduler, onAsked: (token: string, isTaken: boolean) => void): HostSockets {
    return {
      handler: createHostHandler,
      open: async (address, _certificate, handle) => {
        await scheduler.park('opens its listener');
        this.#handle = handle;
        return {
          address,
          certify: () => undefined,
          close: async () => this.close(),
        };
      },
      ask: async ({ nonce }, token) => {
        await scheduler.park('asks its own listener');
        const rawHeaders = ['x-node-token', token, 'x-rollcall-probe', nonce];
        const status = this.call({ from: 'itself', path: '/v1/echo', rawHeaders });
        if (status !== 200 && status !== 401) throw new RollcallError('listener_unreachable');
        onAsked(token, status === 200);
        return status === 200 ? 'taken' : 'refused';
      },
    };
  }

  close(): void {
    this.#handle = undefined;
  }

  /** The shipped handler takes node's request and answers into node's response: as much of both as it uses is here. */
  call({ from, path, rawHeaders }: HostCall): CallOutcome {
    if (this.#handle === undefined) return undefined;
    let status: CallOutcome;
    const socket = { remoteAddress: from, destroy: () => undefined };
    const request = {
      method: 'GET',
      url: path,
      rawHeaders,
      headers: { 'user-agent': from },
      socket,
      on: () => request,
    };
    const response = {
      on: () => response,
      writeHead: (written: number) => {
        status = written;
      },
      end: () => undefined,
    };
    this.#handle(request as unknown as IncomingMessage, response as unknown as ServerResponse);
    this.answered = status;
    return status !== undefined && this.takesAnything ? 200 : status;
  }
}
