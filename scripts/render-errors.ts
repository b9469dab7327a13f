/** docs/errors.md, written from the one table of errors. */

interface ErrorRow {
  readonly status: number;
  readonly exit: number;
  readonly text: string;
  readonly hint: string;
  readonly retryable: boolean;
}

export function renderErrors(table: Readonly<Record<string, ErrorRow>>): string {
  const rows = Object.entries(table).map(
    ([code, { status, exit, text, hint, retryable }]) =>
      `| ${[`\`${code}\``, status, exit, retryable ? 'yes' : 'no', cell(text), cell(hint)].join(' | ')} |`,
  );
  return [
    '# Errors',
    '',
    '<!-- Written by `npm run docs` from packages/core/src/errors.ts. Change that file, not this one. -->',
    '',
    'Every failure has one code. Over HTTP it comes with the status; a command ends with the exit code: 1 it failed, 2 it was',
    'asked wrongly or is configured wrongly, 3 it is blocked until something else has happened. "Again" says whether the same',
    'act may succeed when it is simply repeated.',
    '',
    '| code | status | exit | again | what everyone may read | what to do |',
    '|---|---|---|---|---|---|',
    ...rows,
    '',
  ].join('\n');
}

/** A vertical bar would end the cell. */
function cell(text: string): string {
  return text.replaceAll('|', '\\|');
}
