import { createHmac, hash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { sinkDigest } from './sink-digest.ts';

const key = new Uint8Array(32).fill(7);
const token = Buffer.from('a-token-of-twenty-two-characters');

describe('the digest of a sink', () => {
  it('is what the contract says', () => {
    const expand = createHmac('sha256', key).update('rollcall/digest/v1').update(Buffer.of(1)).digest();
    const body = Buffer.concat([Buffer.from('rollcall/sink-digest/v1\0fleet\0'), hash('sha256', token, 'buffer')]);
    expect(Buffer.from(sinkDigest(key, 'fleet', token))).toEqual(createHmac('sha256', expand).update(body).digest());
  });

  it('differs by key, by secret and by content', () => {
    const one = Buffer.from(sinkDigest(key, 'fleet', token)).toString('hex');
    const others = [
      sinkDigest(new Uint8Array(32).fill(8), 'fleet', token),
      sinkDigest(key, 'other', token),
      sinkDigest(key, 'fleet', token.subarray(1)),
    ].map((digest) => Buffer.from(digest).toString('hex'));
    expect(new Set([one, ...others]).size).toBe(4);
    expect(Buffer.from(sinkDigest(key, 'fleet', Uint8Array.from(token))).toString('hex')).toBe(one);
  });
});
