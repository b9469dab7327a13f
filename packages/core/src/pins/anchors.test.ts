import { expect, it } from 'vitest';
import { mayReceiveCertificate, mayReceiveMaster } from './anchors.ts';

it.each([
  ['enrolment', true],
  ['operator', true],
  ['first-use', false],
] as const)('a pin by %s may be sent the master and obtain a certificate: %s', (anchor, may) => {
  expect(mayReceiveMaster(anchor)).toBe(may);
  expect(mayReceiveCertificate(anchor)).toBe(may);
});
