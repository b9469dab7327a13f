/** The values that must be seen nowhere, in the forms in which a program lets them slip. */
import { ownHeartbeatKey } from '../own-derivation.ts';
import type { World } from '../world.ts';

interface Needle {
  readonly what: string;
  readonly text: string;
}

const needlesOf = new WeakMap<World, { count: number; needles: readonly Needle[] }>();

/** The name of a secret that is in `text`; `undefined`: none. */
export function findSecret(world: World, text: string): string | undefined {
  return needles(world).find((needle) => text.includes(needle.text))?.what;
}

function needles(world: World): readonly Needle[] {
  const { masters } = world.ledger;
  const hosts = [...world.snapshot.hosts.values()];
  const tokens = [...(world.tokens?.ledger.values ?? [])];
  const count = tokens.length * 1_000_000 + masters.size * 1_000 + hosts.reduce((sum, host) => sum + 1 + host.life, 0);
  const known = needlesOf.get(world);
  if (known?.count === count) return known.needles;
  const made = [...masters.values()].flatMap(({ version, bytes }) => [
    ...formsOf(`master ${version}`, bytes),
    ...hosts.flatMap(({ id, life }) => formsOf(`bearer ${version} of ${id}`, ownHeartbeatKey(bytes, id, life))),
  ]);
  for (const [text, { secret, version }] of tokens)
    made.push({ what: `version ${version} of ${secret}`, text: text.slice(0, 30) });
  needlesOf.set(world, { count, needles: made });
  return made;
}

/** Cut at whole groups of base64, so that what stands around does not hide it. */
function formsOf(what: string, bytes: Uint8Array): readonly Needle[] {
  const buffer = Buffer.from(bytes);
  return (['hex', 'base64url', 'base64', 'latin1'] as const).map((form) => ({
    what: `${what} in ${form}`,
    text: buffer.subarray(0, 30).toString(form),
  }));
}
