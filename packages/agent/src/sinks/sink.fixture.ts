/** For tests: assignments of a shared token, and a configuration of one sink. */
import { utf8 } from '@rollcall/core/bytes';
import { SecretBytes } from '@rollcall/core/keys';
import type { Assignment } from '@rollcall/core/seal';
import type { SinkConfig } from '@rollcall/wire';

export function tokenText(version: number): string {
  return `token-of-version-${version}`.padEnd(23, '-');
}

export function tokenAssignment(
  changes: Partial<Assignment> & { readonly versions?: readonly number[] } = {},
): Assignment {
  const { versions = [1], ...rest } = changes;
  return {
    secret: 'fleet',
    epoch: 1,
    step: 1,
    present: versions[0] as number,
    accept: versions.map((version) => ({ version, value: new SecretBytes('token', utf8(tokenText(version))) })),
    issuedAt: '2026-03-01T12:00:00Z',
    ...rest,
  };
}

export function sinkConfig(path: string, changes: Partial<SinkConfig> = {}): SinkConfig {
  return { name: 'web', path, secret: 'fleet', mode: 0o640, ...changes };
}
