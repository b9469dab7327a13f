import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { errorTable } from '@rollcall/core/errors';
import { expect, it } from 'vitest';
import { renderErrors } from '../../scripts/render-errors.ts';
import { root } from './source-tree.ts';

it('docs/errors.md is what the table of errors says (else: npm run docs)', () => {
  expect(readFileSync(join(root, 'docs/errors.md'), 'utf8')).toBe(renderErrors(errorTable));
});

it('would tell a row that came, went or changed', () => {
  const row = { status: 400, exit: 2, text: 'a | b', hint: 'none', retryable: true };
  const page = renderErrors({ some_code: row });
  expect(page).toContain('| `some_code` | 400 | 2 | yes | a \\| b | none |');
  expect(renderErrors({ some_code: { ...row, status: 401 } })).not.toBe(page);
  expect(renderErrors({})).not.toBe(page);
});

it('every error can be acted on', () => {
  const lame = Object.entries(errorTable).filter(([, { text, hint }]) => text.length < 5 || hint.length < 10);
  expect(lame).toEqual([]);
  const retryable = Object.entries(errorTable).filter(
    ([, { retryable, status }]) => retryable && ![409, 429, 500, 502, 503, 504, 507].includes(status),
  );
  expect(retryable).toEqual([]);
});
