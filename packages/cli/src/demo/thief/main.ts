/** The thief of the demo, a process of its own: `main.js HUB MASTER-FILE`. It does what it is told over its channel. */
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { parseMasterFile } from '@rollcall/core/keys';
import { routes } from '@rollcall/wire';
import { nodeClock } from '../../adapters/node-clock.ts';
import { type Impostor, openImpostor } from './impostor.ts';
import type { ActName, Answer, Ask, ThiefMessage, ThiefRequest } from './messages.ts';
import { openNetwork } from './network.ts';
import { postJson } from './post-json.ts';
import { createStolenMaster } from './stolen-master.ts';

type Acts = { readonly [Act in ActName]: (ask: Ask<Act>) => Promise<Answer<Act>> | Answer<Act> };

const [hub = '', masterFile = ''] = process.argv.slice(2);
const random = (n: number) => Uint8Array.from(randomBytes(n));
const master = parseMasterFile(await readFile(masterFile));
const stolen = createStolenMaster({ hub, master, random, clock: nodeClock });
const network = await openNetwork(Number(new URL(hub).port));
let impostor: Impostor | undefined;

const acts: Acts = {
  beat: ({ host, publish }) => stolen.beat(host, publish),
  open: ({ envelope }) => stolen.open(envelope),
  network: ({ mode, letPass = 0 }) => {
    network.set(mode, { letPass, divertPort: impostor?.port ?? 0 });
    return {};
  },
  impersonate: async ({ envelope, trustDomain }) => {
    const generateKeyPair = () => generateKeyPairSync('ec', { namedCurve: 'P-256' });
    impostor = await openImpostor({ envelope, trustDomain, generateKeyPair, random, clock: nodeClock });
    return {};
  },
  callImpostor: async () => {
    const url = `https://127.0.0.1:${impostor?.port ?? 0}${routes.heartbeat.path}`;
    const { status, text } = await postJson(url, { headers: {}, body: {} });
    return { status, deliveries: (JSON.parse(text) as { deliveries: readonly unknown[] }).deliveries.length };
  },
  report: () => ({ beats: stolen.counts(), impostor: impostor?.counts() ?? { connections: 0, requests: 0 } }),
};

process.on('disconnect', () => process.exit());
process.on('message', (message) => {
  const { id, act, ask } = message as ThiefRequest;
  perform(act, ask).then(
    (answer) => say({ id, answer }),
    (error: unknown) => say({ id, failure: error instanceof Error ? error.message : 'failed' }),
  );
});
say({ networkPort: network.port });

async function perform(act: ActName, ask: unknown): Promise<unknown> {
  return (acts[act] as (ask: unknown) => unknown)(ask);
}

function say(message: ThiefMessage): void {
  process.send?.(message);
}
