/** Secret bytes that know what they are for, and do not show themselves. */

import { inspect } from 'node:util';

/**
 * `Kind` keeps keys apart: a `SecretBytes<'wrap-private'>` is no `SecretBytes<'hub-key'>`, at compile time and by
 * `revealAs` at run time. There is no comparison and no text form. A structured clone carries the kind alone, since
 * private fields do not cross it.
 */
export class SecretBytes<Kind extends string = string> {
  readonly kind: Kind;
  readonly #bytes: Uint8Array;

  /** Keeps a copy. */
  constructor(kind: Kind, bytes: Uint8Array) {
    this.kind = kind;
    this.#bytes = new Uint8Array(bytes);
  }

  get length(): number {
    return this.#bytes.length;
  }

  /** The bytes themselves, as a copy. Every call of this is a place to look at in review. */
  reveal(): Uint8Array {
    return new Uint8Array(this.#bytes);
  }

  toString(): string {
    return `[redacted ${this.kind}]`;
  }

  toJSON(): string {
    return this.toString();
  }
}

// Not in the class: `isolatedDeclarations` takes no computed names there.
Object.defineProperty(SecretBytes.prototype, inspect.custom, { value: SecretBytes.prototype.toString });

/** The bytes of a secret of exactly this kind, or bare bytes as they are; a secret of another kind is a programmer's error. */
export function revealAs<Kind extends string>(kind: Kind, secret: Uint8Array | SecretBytes<NoInfer<Kind>>): Uint8Array {
  if (secret instanceof Uint8Array) return secret;
  if (!(secret instanceof SecretBytes) || secret.kind !== kind) throw new TypeError(`a ${kind} is needed here`);
  return secret.reveal();
}
