/** Certificates of a fleet: what issues them, reads them, and judges who presents one. */
export { createCertificateRequest, type VerifiedRequest, verifyCertificateRequest } from './certificate-request.ts';
export { Authority, createAuthority, type KeyPairPort, restoreAuthority } from './create-authority.ts';
export type { CertificateUsage, ExtensionName, KeyUsageName } from './extensions.ts';
export { type CertificateRequest, type IssuedCertificate, issueCertificate } from './issue-certificate.ts';
export { type HubUntrustedReason, type JudgedHub, judgeHubCertificate, judgeHubSpki } from './judge-hub.ts';
export { type JudgedListener, judgeListenerCertificate, type ListenerUntrustedReason } from './judge-listener.ts';
export { type ParsedCertificate, parseCertificate, spkiSha256 } from './parse-certificate.ts';
export { encodeCertificatePem } from './pem.ts';
export { presentedChain } from './presented-chain.ts';
export { hubId, listenerId, parseSpiffeId, type SpiffeId, trustDomainId } from './spiffe-id.ts';
