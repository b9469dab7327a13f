/** A real agent against a hub that replays, lies, refuses, hangs and resets: it keeps what it holds, and keeps its distance. */
import type { ServerResponse } from 'node:http';
import type { JsonValue } from '@rollcall/core/json';
import { deriveHostKey, encodeToken } from '@rollcall/core/keys';
import type { Envelope, HubKeyRecord } from '@rollcall/core/seal';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Agents, createAgents } from './harness/agents.ts';
import { answerBeat, createFakeHub, type FakeHub, fakeMaster, type HeardBeat, send } from './harness/fake-hub.ts';
import { createRecorder } from './harness/recorder.ts';
import { sleep, waitUntil } from './harness/wait-until.ts';

let hub: FakeHub;
let agents: Agents;

beforeAll(async () => {
  hub = await createFakeHub();
  agents = createAgents(createRecorder());
});
afterAll(async () => {
  await agents.close();
  await hub.close();
});

const waitFor = (what: string, probe: () => HeardBeat | undefined) => waitUntil(what, probe, { story: agents.story });
const bearer = (host: string, version: number) =>
  `Bearer ${encodeToken('rcb', deriveHostKey(fakeMaster(version), 'heartbeat', host, 1))}`;

describe('a delivery that is not the one to apply', () => {
  const id = 'web-1';
  const generation = (version: number) =>
    hub.seal(id, { epoch: 1, step: version, versions: [version], present: version });
  let latest = 1;
  let recorded: Envelope;

  /** Delivers in every answer, until the agent says in a beat what `until` waits for. */
  const deliver = async (envelope: Envelope, what: string, until: (beat: HeardBeat) => boolean): Promise<HeardBeat> => {
    hub.behave = (_beat, response) => answerBeat(response, [envelope as unknown as JsonValue]);
    const from = hub.heard.length;
    const beat = await waitFor(what, () => hub.heard.slice(from).find(until));
    hub.behave = (_beat, response) => answerBeat(response);
    return beat;
  };
  /** The control of every case: the next good one is applied, proven, and the refusal forgotten. */
  const deliverNext = async () => {
    latest += 1;
    const envelope = generation(latest);
    const beat = await deliver(
      envelope,
      `generation ${latest} is proven`,
      ({ bearer: shown }) => shown === bearer(id, latest),
    );
    expect(beat.body.held).toEqual({ master: { epoch: 1, step: latest } });
    expect(beat.body.refused).toEqual([]);
    return envelope;
  };

  beforeAll(async () => {
    agents.start(id, '--enrol', agents.write('token', hub.enrolmentToken(id)));
    await waitFor('it beats', () => hub.heard.find(({ host }) => host === id));
    await deliverNext();
    recorded = await deliverNext();
    await deliverNext();
    expect(latest).toBe(4);
  });

  type Made = () => Envelope;
  const altered = (change: (good: Envelope) => unknown) => () => {
    const good = generation(latest + 1);
    return { ...good, ...(change(good) as object) } as Envelope;
  };
  const inKey = (change: (key: HubKeyRecord) => Partial<HubKeyRecord>) =>
    altered(({ hubKey }) => ({ hubKey: { ...hubKey, ...change(hubKey) } }));
  const flip = (text: string) => `${text[0] === 'A' ? 'B' : 'A'}${text.slice(1)}`;
  const flipHex = (text: string) => `${text[0] === 'a' ? 'b' : 'a'}${text.slice(1)}`;
  const cases: readonly (readonly [string, string, Made])[] = [
    ['a recording of generation 3', 'delivery_replayed', () => recorded],
    [
      'for another host',
      'delivery_other_host',
      () => hub.seal(id, { epoch: 1, step: latest + 1, versions: [9], present: 9 }, hub.hubKey, 'web-2'),
    ],
    [
      'signed by a hub key that the root does not vouch for',
      'delivery_unknown_hub_key',
      () => hub.seal(id, { epoch: 1, step: latest + 1, versions: [9], present: 9 }, hub.strangeKey),
    ],
    ['another host written over', 'delivery_other_host', altered(() => ({ host: 'web-2' }))],
    ['another secret written over', 'delivery_bad_signature', altered(() => ({ secret: 'masters' }))],
    ['another epoch', 'delivery_bad_signature', altered(({ epoch }) => ({ epoch: epoch + 1 }))],
    ['another step', 'delivery_bad_signature', altered(({ step }) => ({ step: step + 1 }))],
    ['another version to present', 'delivery_bad_signature', altered(({ present }) => ({ present: present + 1 }))],
    [
      'another recipient',
      'delivery_unknown_recipient',
      altered(({ recipient }) => ({ recipient: flipHex(recipient) })),
    ],
    ['a flipped bit in enc', 'delivery_bad_signature', altered(({ enc }) => ({ enc: flip(enc) }))],
    ['a flipped bit in ct', 'delivery_bad_signature', altered(({ ct }) => ({ ct: flip(ct) }))],
    ['a flipped bit in sig', 'delivery_bad_signature', altered(({ sig }) => ({ sig: flip(sig) }))],
    ['a format of tomorrow', 'delivery_malformed', altered(() => ({ v: 2 }))],
    ['a field missing', 'delivery_malformed', altered(() => ({ ct: undefined }))],
    // The id of a hub key is a digest of it: either alone is a matter of form.
    ['a flipped bit in hubKey.kid', 'delivery_malformed', inKey(({ kid }) => ({ kid: flipHex(kid) }))],
    ['a flipped bit in hubKey.public', 'delivery_malformed', inKey((key) => ({ public: flip(key.public) }))],
    [
      'a flipped bit in hubKey.rootSig',
      'delivery_unknown_hub_key',
      inKey(({ rootSig }) => ({ rootSig: flip(rootSig) })),
    ],
    ['another serial of the hub key', 'delivery_unknown_hub_key', inKey(({ serial }) => ({ serial: serial + 1 }))],
  ];

  it.each(cases)('is refused with its reason, and nothing changes: %s', async (_name, reason, make) => {
    const beat = await deliver(make(), 'the agent says why', ({ body }) => body.refused.length > 0);
    expect(beat.body.refused.map((refused) => refused.reason)).toEqual([reason]);
    expect(beat.body.held).toEqual({ master: { epoch: 1, step: latest } });
    expect(beat.bearer).toBe(bearer(id, latest));
    await deliverNext();
  });

  it('is not even worth a word when it is what the host holds', async () => {
    const again = await deliverNext();
    const beats = hub.heard.length;
    hub.behave = (_beat, response) => answerBeat(response, [again as unknown as JsonValue]);
    await waitUntil('it beats on', () => hub.heard.length > beats + 4);
    expect(hub.heard.slice(beats).map(({ body }) => [body.held['master']?.step, body.refused])).toEqual(
      hub.heard.slice(beats).map(() => [latest, []]),
    );
  });
});

describe('a hub that fails', () => {
  const misbehaviour: Readonly<Record<string, (response: ServerResponse) => void>> = {
    'says-401': (response) => send(response, 401, { error: 'node token invalid' }),
    'says-403': (response) => send(response, 403, { code: 'host_mismatch' }),
    'says-429': (response) => send(response, 429, { code: 'too_many_requests' }, { 'retry-after': '3' }),
    'says-500': (response) => send(response, 500, { code: 'internal' }),
    'says-503': (response) => send(response, 503, { code: 'unavailable' }, { 'retry-after': '1' }),
    'proxy-page': (response) =>
      void response.writeHead(502, { 'content-type': 'text/html' }).end('<h1>Bad gateway</h1>'),
    nonsense: (response) => void response.writeHead(200).end('{"nextBeatMs":'),
    'no-http': (response) => void response.socket?.end('220 smtp.example.org ESMTP\r\n'),
    resets: (response) => hub.reset(response),
    hangs: () => undefined,
  };
  const failing = Object.keys(misbehaviour);
  const spanMs = 12_000;

  it('is left alone for longer and longer, with jitter, never asked twice within a second, and believed when it is well again', async () => {
    hub.behave = (_beat, response) => answerBeat(response);
    const root = agents.write('root.json', hub.hubRootFile());
    const master = agents.write('master', Buffer.from(fakeMaster(1)).toString('base64'));
    for (const id of failing) {
      agents.start(id, '--hub', hub.url, '--host', id, '--hub-root-file', root, '--master-file', master);
    }
    const of = (id: string) => hub.heard.filter(({ host }) => host === id);
    const story = { withinMs: 45_000, story: agents.story };
    await waitUntil('all of them beat', () => failing.every((id) => of(id).length >= 3), story);
    // The control: while all is well they come at the pace that they are told, which is faster than one in a second.
    await sleep(1_500);
    for (const id of failing) expect(of(id).length, id).toBeGreaterThan(6);
    const before = new Map(failing.map((id) => [id, of(id).at(-1)?.body.wrapKey?.public]));

    const from = hub.heard.length;
    hub.behave = ({ host }, response) => (misbehaviour[host] ?? answerBeat)(response);
    await sleep(spanMs);
    const heard = hub.heard.slice(from);
    hub.behave = (_beat, response) => answerBeat(response);

    const firstGaps: number[] = [];
    for (const id of failing) {
      const at = heard.filter(({ host }) => host === id).map(({ atMs }) => atMs);
      const gaps = at.slice(1).map((time, index) => time - (at[index] ?? 0));
      // Measured here, where an arrival may be seen late: a tenth of a second is ours.
      expect(Math.min(...gaps, Number.POSITIVE_INFINITY), `${id}: ${gaps}`).toBeGreaterThan(900);
      if (id === 'hangs') continue;
      expect(at.length, `${id}: ${gaps}`).toBeGreaterThanOrEqual(3);
      expect(gaps[1], `${id}: ${gaps}`).toBeGreaterThan(1_900);
      if (gaps[2] !== undefined) expect(gaps[2], `${id}: ${gaps}`).toBeGreaterThan(3_900);
      if (id === 'says-429') expect(gaps[0]).toBeGreaterThan(2_900);
      else firstGaps.push(gaps[0] ?? 0);
    }
    // No two draw the same delay: a fleet that failed as one does not come back as one.
    expect(Math.max(...firstGaps) - Math.min(...firstGaps)).toBeGreaterThan(50);

    const healed = hub.heard.length;
    const since = (id: string) => hub.heard.slice(healed).filter(({ host }) => host === id);
    await waitUntil('all of them beat again', () => failing.every((id) => since(id).length >= 3), story);
    for (const id of failing) expect(since(id).at(-1)?.body.wrapKey?.public, id).toBe(before.get(id));
  }, 120_000);
});
