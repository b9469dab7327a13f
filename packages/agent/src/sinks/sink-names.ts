/** What an agent calls the things that it makes beside a sink: hidden, named after it, and nothing that a person would type. */
import { encodeHex } from '@rollcall/core/bytes';
import type { Random } from '@rollcall/core/ports';

const DIRECTORY_BYTES = 8;
const SUFFIX = /^[0-9a-f]{16}$/;

export function newDirectoryName(path: string, random: Random): string {
  return `${prefixOf(path)}${encodeHex(random(DIRECTORY_BYTES))}`;
}

export function isDirectoryName(path: string, name: string): boolean {
  const prefix = prefixOf(path);
  return name.startsWith(prefix) && SUFFIX.test(name.slice(prefix.length));
}

/** A link before it takes the place of the one that is there. */
export function newLinkPath(path: string): string {
  return `${parentOf(path)}/${prefixOf(path)}link`;
}

export function parentOf(path: string): string {
  return path.slice(0, Math.max(1, path.lastIndexOf('/'))).replace(/^\/$/, '/.');
}

function prefixOf(path: string): string {
  return `.${path.slice(path.lastIndexOf('/') + 1)}.rollcall-`;
}
