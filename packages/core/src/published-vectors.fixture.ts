/** Third-party vectors, read where they are published to; a test that needs them is skipped, and says so, where they are not. */
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const folder = process.env['ROLLCALL_VECTORS'] ?? fileURLToPath(new URL('../../../../shared/vectors', import.meta.url));

/** The parsed file, or `undefined` with a printed reason. */
export function readPublished<T>(path: string): T | undefined {
  const file = `${folder}/${path}`;
  if (!existsSync(file)) {
    console.warn(`skipped: no published vectors at ${file} (set ROLLCALL_VECTORS)`);
    return undefined;
  }
  return JSON.parse(readFileSync(file, 'utf8')) as T;
}

export interface WycheproofGroup<Test> {
  readonly keySize: number;
  readonly ivSize: number;
  readonly tagSize: number;
  readonly publicKey: { readonly pk: string };
  readonly tests: readonly (Test & {
    readonly tcId: number;
    readonly comment: string;
    readonly flags: readonly string[];
    readonly result: 'valid' | 'invalid' | 'acceptable';
  })[];
}

type Wycheproof = Readonly<Record<string, { readonly testGroups: readonly unknown[] }>>;

let wycheproof: { readonly files: Wycheproof | undefined } | undefined;

/** The groups of one Wycheproof file. */
export function readWycheproof<Test>(name: string): readonly WycheproofGroup<Test>[] | undefined {
  wycheproof ??= { files: readPublished<Wycheproof>('wycheproof/cases.json') };
  return wycheproof.files?.[name]?.testGroups as readonly WycheproofGroup<Test>[] | undefined;
}

export function unhex(text: string): Uint8Array {
  return new Uint8Array(Buffer.from(text, 'hex'));
}
