/** The plain part of YAML that a configuration needs, and in plain words what else there was in a file. */
import { limits } from '@rollcall/core/limits';
import { type Document, isAlias, isNode, type LineCounter, parseDocument, visit } from 'yaml';
import type { ConfigSource } from './config-file.ts';

/** The document, if it is of the plain part of YAML that a configuration needs: no anchor, alias or tag, no mark, no NUL. */
export function parsePlainYaml(
  { file, text }: ConfigSource,
  lines: LineCounter,
  problems: string[],
): Document.Parsed | undefined {
  if (text.length > limits.configFileMaxBytes) problems.push(`${file}: more than ${limits.configFileMaxBytes} bytes`);
  else if (text.startsWith('\ufeff')) problems.push(`${file}:1: begins with a byte-order mark; save it without one`);
  else if (text.includes('\0'))
    problems.push(`${file}:${lineOf(text, text.indexOf('\0'))}: a NUL byte; save it as plain text`);
  if (problems.length > 0) return undefined;
  const before = problems.length;
  let document: Document.Parsed;
  try {
    document = parseDocument(text, { lineCounter: lines, uniqueKeys: true, version: '1.2', merge: false });
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    // The parser recurses with the text.
    problems.push(`${file}: nested too deeply`);
    return undefined;
  }
  for (const error of document.errors)
    problems.push(`${file}:${lines.linePos(error.pos[0]).line}: ${faultOf(error.code)}`);
  if (problems.length > before) return undefined;
  visit(document, (_key, node) => {
    if (!isNode(node)) return;
    const place = `${file}:${lines.linePos(node.range?.[0] ?? 0).line}`;
    if (isAlias(node) || node.anchor !== undefined) problems.push(`${place}: anchors and aliases are not taken`);
    else if (node.tag !== undefined) problems.push(`${place}: tags are not taken`);
  });
  return problems.length > before ? undefined : document;
}

/** What a person is told of the parser's codes; the text of its errors may quote the file. */
const faults: Readonly<Record<string, string>> = {
  TAB_AS_INDENT: 'a tab where spaces indent',
  DUPLICATE_KEY: 'a key stands there twice',
  MULTIPLE_DOCS: 'more than one document',
  MULTILINE_IMPLICIT_KEY: 'a key without its value, or a value out of line',
};

function faultOf(code: string): string {
  return faults[code] ?? `not YAML as it is taken here (${code})`;
}

function lineOf(text: string, offset: number): number {
  return text.slice(0, offset).split('\n').length;
}
