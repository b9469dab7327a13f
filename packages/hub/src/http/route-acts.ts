/** Which act of the table each route of hosts is (design 3): what it takes at least stands there, and nowhere else. */
import type { Act } from '@rollcall/core/rungs';
import type { RouteName } from '@rollcall/wire';

/** `null`: whoever asks proves nothing yet. A test asserts that every route that asks who calls is here. */
export const routeActs = {
  heartbeat: 'heartbeat',
  whoAmI: 'ask-who-i-am',
  enrol: 'enrol',
  challenge: null,
  issueCertificate: 'obtain-certificate',
} as const satisfies Partial<Record<RouteName, Act | null>>;
