/** For tests of code that uses this package: a clock under the test's hand, and random bytes that a seed decides. */
export { FakeClock } from './fake-clock.ts';
export { seededRandom } from './seeded-random.ts';
