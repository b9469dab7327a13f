/**
 * The examples of docs/PROTOCOL.md are the vectors. Two marks stand above its code blocks: `<!-- vector: PATH -->` above JSON
 * that stands in the vectors there, and `<!-- bytes: RELATION … -->` above bytes, part by part, that a relation of the vectors
 * confirms: that their digest, their MAC or a signature over them is what the vectors say.
 */
import { createHash, createHmac, createPublicKey, verify } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { limits } from '@rollcall/core/limits';
import { openBase } from '@rollcall/core/seal';
import { describe, expect, it } from 'vitest';

const vectors: unknown = JSON.parse(readFileSync(new URL('./rollcall-v1.json', import.meta.url), 'utf8'));
const page = readFileSync(new URL('../../docs/PROTOCOL.md', import.meta.url), 'utf8');
const examples = findExamples(page);

describe('docs/PROTOCOL.md', () => {
  it.each(examples)('$mark: $argument ($at)', checkExample);

  it('has an example of every section of the vectors', () => {
    const named = examples.map(({ argument }) => argument);
    const sections = Object.keys(vectors as object).filter((name) => name !== 'about');
    expect(sections.filter((name) => !named.some((argument) => argument.includes(name)))).toEqual([]);
    expect(examples.length).toBeGreaterThan(25);
  });

  it('names all the codes of a delivery, in the order of the checks', () => {
    const rows = page.match(/\| `(delivery_\w+)` \|$/gm) ?? [];
    expect(rows.map((row) => row.replaceAll(/[|` ]/g, ''))).toEqual([
      'delivery_malformed',
      'delivery_other_host',
      'delivery_unknown_recipient',
      'delivery_replayed',
      'delivery_unknown_hub_key',
      'delivery_bad_signature',
      'delivery_unopenable',
      'delivery_contradicts',
    ]);
  });
});

describe('a limit', () => {
  const kib = (bytes: number): string => `${bytes / 1_024} KiB`;
  const s = (ms: number): string => `${ms / 1_000} s`;

  it.each([
    ['all headers of a request', kib(limits.headerBytes)],
    ['body of a heartbeat, of an enrolment', kib(limits.heartbeatBodyBytes)],
    ['body of a heartbeat, of an enrolment', kib(limits.enrolBodyBytes)],
    ['answer', `refuse above ${limits.responseMaxBytes / 1_048_576} MiB`],
    ['`ct` of an envelope', kib(limits.envelopeMaxBytes)],
    ['JSON under a statement\u0027s signature', kib(limits.statementMaxBytes)],
    ['headers must be there within', s(limits.headersTimeoutMs)],
    ['the request must be there within', s(limits.requestTimeoutMs)],
    ['kept connection, silent', `${s(limits.keepAliveMs)} at the hub`],
    ['connecting, answer: give up after', `${s(limits.connectTimeoutMs)}, and ${s(limits.answerTimeoutMs)} more`],
    ['heartbeats of one instance', `${limits.beatsPerSecond} a second, ${limits.beatsBurst} at once`],
    [
      'new instances of one host from one network',
      `one in ${s(limits.newInstanceEveryMs)}, ${limits.beatInstancesPerHost} at once`,
    ],
    ['enrolments of one host from one network', `one a second, ${limits.enrolsPerHostBurst} at once`],
    ['`nextBeatMs`, taken as', `${limits.beatMinMs} ms to ${s(limits.beatMaxMs)}`],
    ['token text', `${limits.tokenTextMaxCharacters.toLocaleString('en-US')} characters`],
    ['versions in an assignment', `${limits.acceptedVersions}`],
    ['versions that it drops', `${limits.refusedVersions}`],
    ['`refused` in a beat', `${limits.refusalsPerBeat}`],
    ['nesting of JSON', `${limits.jsonMaxDepth}`],
    ['a challenge may be answered for', s(limits.challengeMs)],
    ['certificate request', `${limits.certificateRequestMaxBytes.toLocaleString('en-US')} bytes`],
    ['id of a challenge', `${limits.challengeIdMaxBytes.toLocaleString('en-US')} bytes`],
  ])('is the one of the table of limits: %s, %s', (what, limit) => {
    expect(page.split('\n')).toContain(`| ${what} | ${limit} |`);
  });
});

describe('an example that is wrong', () => {
  const isHex = (line: string): boolean => /^[0-9a-f]{2}/.test(line);
  const flipped = (text: string): string => (text.startsWith('0') ? '1' : '0') + text.slice(1);

  it.each(examples.filter(({ mark }) => mark === 'bytes'))('would be caught in any part: $argument', (example) => {
    const lines = example.body.split('\n');
    for (const [index, line] of lines.entries()) {
      if (!isHex(line)) continue;
      const body = lines.with(index, flipped(line)).join('\n');
      expect(() => checkExample({ ...example, body }), line).toThrow();
    }
    expect(lines.some(isHex)).toBe(true);
  });

  it.each(examples.filter(({ mark }) => mark === 'vector'))('would be caught: $argument', (example) => {
    const value = JSON.parse(example.body) as Record<string, unknown>;
    for (const name of Object.keys(value)) {
      expect(() => checkExample({ ...example, body: JSON.stringify({ ...value, [name]: 'x' }) }), name).toThrow();
    }
    expect(() => checkExample({ ...example, body: JSON.stringify({ ...value, more: 1 }) })).toThrow();
  });

  it('would be caught when its mark is not understood, or nothing stands below it', () => {
    expect(() => checkExample({ mark: 'bytes', argument: 'sha1 tokens.0', body: '00', at: 1 })).toThrow();
    expect(() => findExamples('<!-- vector: hub -->\n\ntext')).toThrow();
  });
});

interface Example {
  readonly mark: string;
  readonly argument: string;
  readonly body: string;
  readonly at: number;
}

function findExamples(text: string): readonly Example[] {
  const found = [...text.matchAll(/<!-- (vector|bytes): ([^>]+?) -->\n(?:```(?:json|text)\n([^`]+)\n```)?/g)];
  return found.map(({ 1: mark = '', 2: argument = '', 3: body, index }) => {
    if (body === undefined) throw new Error(`no block below ${mark}: ${argument}`);
    return { mark, argument, body, at: text.slice(0, index).split('\n').length };
  });
}

function checkExample({ mark, argument, body }: Example): void {
  const [name = '', first = '', second = ''] = argument.split(' ');
  if (mark === 'vector') {
    checkVector(argument, JSON.parse(body));
    return;
  }
  const check = relations[name];
  if (check === undefined) throw new Error(`an unknown relation: ${name}`);
  check(readMessage(body), first, second);
}

const relations: Readonly<Record<string, (message: Buffer, first: string, second: string) => void>> = {
  equal: (message, path) => {
    expect(message.toString('hex')).toBe(at(path));
  },
  sha256: (message, path) => {
    expect(sha256(message)).toEqual(bytesAt(path));
  },
  'hmac-sha256': (message, key, mac) => {
    expect(createHmac('sha256', bytesAt(key)).update(message).digest()).toEqual(bytesAt(mac));
  },
  ed25519: (message, publicKey, signature) => {
    expect(verify(null, message, ed25519(bytesAt(publicKey)), bytesAt(signature))).toBe(true);
  },
  /** Prefix and value of a token: its text follows from them. */
  token: (message, path) => {
    const { prefix, text } = at(path) as { prefix: string; text: string };
    const token = Buffer.concat([message.subarray(prefix.length + 1), sha256(message).subarray(0, 4)]);
    expect(`${message.subarray(0, prefix.length + 1)}${token.toString('base64url')}`).toBe(text);
  },
  /** Additional data: the challenge opens with it. */
  aad: (message, path) => {
    const { enc, ct } = at(`${path}.challenge`) as { enc: string; ct: string };
    const privateKey = bytesAt(`${path}.wrapPrivate`);
    const info = Buffer.from('rollcall/challenge/v1');
    const opened = openBase({ privateKey, enc: unbase64url(enc), info, aad: message, ct: unbase64url(ct) });
    expect(Buffer.from(opened)).toEqual(bytesAt(`${path}.nonce`));
  },
};

/** The same fields, or some of them: each as it stands in the vectors. */
function checkVector(path: string, shown: unknown): void {
  const held = at(path);
  const whole = (typeof held === 'string' ? JSON.parse(held) : held) as Record<string, unknown>;
  const names = Object.keys(shown as object);
  expect(names.length).toBeGreaterThan(0);
  expect(shown).toEqual(Object.fromEntries(names.map((name) => [name, whole[name]])));
  expect(names.filter((name) => !(name in whole))).toEqual([]);
}

/** One part a line: bytes in hex, or the path of a vector, or what follows a byte of it; then two spaces, and what it is. */
function readMessage(body: string): Buffer {
  return Buffer.concat(
    body.split('\n').map((line) => {
      const [part = ''] = line.split('  ');
      if (/^(?:[0-9a-f]{2})+$/.test(part)) return Buffer.from(part, 'hex');
      const [, path = '', from = '0'] = /^\(([\w.]+)(?:, from byte (\d+))?\)$/.exec(part) ?? [];
      return bytesAt(path).subarray(Number(from));
    }),
  );
}

function at(path: string): unknown {
  return path.split('.').reduce<unknown>((value, key) => (value as Record<string, unknown>)[key], vectors);
}

/** Hex, and inside of JSON that travels base64url. */
function bytesAt(path: string): Buffer {
  const text = at(path);
  if (typeof text !== 'string') throw new Error(`no vector: ${path}`);
  return /^(?:[0-9a-f]{2})+$/.test(text) ? Buffer.from(text, 'hex') : unbase64url(text);
}

function unbase64url(text: string): Buffer {
  return Buffer.from(text, 'base64url');
}

function sha256(message: Uint8Array): Buffer {
  return createHash('sha256').update(message).digest();
}

function ed25519(publicKey: Uint8Array) {
  const x = Buffer.from(publicKey).toString('base64url');
  return createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' });
}
