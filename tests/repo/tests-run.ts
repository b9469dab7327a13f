/** Tests that do not run prove nothing: none is focused, and one that is skipped says why. */
import { isNode, lineAt, type Node, parseModule, visit } from './syntax.ts';

const RUNNERS: ReadonlySet<string> = new Set(['it', 'test', 'describe', 'suite']);
const NEVER: ReadonlySet<string> = new Set(['only', 'todo', 'fails']);
const WITH_REASON: ReadonlySet<string> = new Set(['skip', 'skipIf', 'runIf']);

/** Fewer characters explain nothing. */
const REASON = /\b(?:Skipped|Runs only)\b.{10,}/;

/** `line: what`, for every focused test and every skipped one without a comment `// Skipped …: why` on or above its line. */
export function findUnrunTests(path: string, text: string): readonly string[] {
  const { program, comments } = parseModule(path, text);
  const reasons = new Set(comments.filter(({ value }) => REASON.test(value)).map(({ end }) => lineAt(text, end)));
  const found: string[] = [];
  visit(program, (node) => {
    const what = runnerMember(node);
    if (what === undefined) return;
    const line = lineAt(text, node.start);
    const isExplained = WITH_REASON.has(what) && (reasons.has(line) || reasons.has(line - 1));
    if (!isExplained) found.push(`${path}:${line}: .${what}`);
  });
  return found;
}

function runnerMember(node: Node): string | undefined {
  const property = node['property'];
  if (node.type !== 'MemberExpression' || !isNode(property)) return undefined;
  const name = String(property['name'] ?? property['value']);
  return (NEVER.has(name) || WITH_REASON.has(name)) && RUNNERS.has(rootName(node)) ? name : undefined;
}

function rootName(node: Node): string {
  const object = node['object'] ?? node['callee'];
  return isNode(object) ? rootName(object) : String(node['name']);
}
