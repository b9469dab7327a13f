/** The rules of design 6 for a leaf, whoever judges it: exactly one use, exactly one id, and no power to issue. */
import type { CertificateUsage } from './extensions.ts';
import type { ParsedCertificate } from './parse-certificate.ts';

export type LeafReason = 'leaf_is_authority' | 'key_usage' | 'extended_key_usage' | 'several_ids' | 'other_id';

export function assertLeaf(
  leaf: ParsedCertificate,
  { id, usage }: { readonly id: string; readonly usage: CertificateUsage },
  refuse: (reason: LeafReason) => Error,
): void {
  if (leaf.isCa || !leaf.critical.has('basicConstraints')) throw refuse('leaf_is_authority');
  const maySign = leaf.keyUsage.has('keyCertSign') || leaf.keyUsage.has('cRLSign');
  if (maySign || !leaf.keyUsage.has('digitalSignature') || !leaf.critical.has('keyUsage')) throw refuse('key_usage');
  if (leaf.extendedKeyUsage.length !== 1 || leaf.extendedKeyUsage[0] !== usage) throw refuse('extended_key_usage');
  if (leaf.uris.length > 1) throw refuse('several_ids');
  if (leaf.uris[0] !== id) throw refuse('other_id');
}
