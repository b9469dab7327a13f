/** Looks for known secrets in bytes, in every form in which a program might let one slip. */
import type { Recorded } from './recorder.ts';

export interface KnownSecret {
  readonly name: string;
  readonly bytes: Uint8Array;
}

export interface Finding {
  readonly secret: string;
  readonly form: string;
  readonly where: string;
}

/** `where: secret as form`, for each that is found. */
export function scanForSecrets(recorded: readonly Recorded[], secrets: readonly KnownSecret[]): readonly Finding[] {
  const needles = secrets.flatMap(({ name, bytes }) =>
    formsOf(Buffer.from(bytes)).map(({ form, needle }) => ({ secret: name, form, needle })),
  );
  return recorded.flatMap(({ from, label, bytes }) =>
    needles
      .filter(({ needle }) => bytes.includes(needle))
      .map(({ secret, form }) => ({ secret, form, where: `${from} of ${label}` })),
  );
}

export function formsOf(bytes: Buffer): readonly { readonly form: string; readonly needle: Buffer }[] {
  if (bytes.length < 16) throw new TypeError('too short to be told from chance');
  const hex = bytes.toString('hex');
  const octets = [...bytes];
  const texts: Readonly<Record<string, string>> = {
    hex,
    HEX: hex.toUpperCase(),
    // util.inspect of a Buffer, cut where it cuts; JSON of a Buffer or of an array; a line of util.inspect of a Uint8Array.
    inspected: (hex.slice(0, 64).match(/../g) ?? []).join(' '),
    numbers: octets.slice(0, 12).join(','),
    'spaced numbers': octets.slice(0, 12).join(', '),
    escaped: octets
      .slice(0, 16)
      .map((octet) => `%${octet.toString(16).padStart(2, '0')}`)
      .join(''),
  };
  return [
    { form: 'raw', needle: bytes },
    ...Object.entries(texts).map(([form, text]) => ({ form, needle: Buffer.from(text, 'latin1') })),
    ...[0, 1, 2].flatMap((offset) => base64Forms(bytes, offset)),
  ];
}

/** As it stands in base64 of something longer, at this offset of its groups of three: without the characters that neighbours share. */
function base64Forms(bytes: Buffer, offset: number): readonly { readonly form: string; readonly needle: Buffer }[] {
  const padded = Buffer.concat([Buffer.alloc(offset), bytes]);
  const whole = Math.floor((padded.length * 4) / 3);
  const start = Math.ceil((offset * 4) / 3);
  return (['base64', 'base64url'] as const).map((encoding) => ({
    form: `${encoding}+${offset}`,
    needle: Buffer.from(padded.toString(encoding).slice(start, whole), 'latin1'),
  }));
}
