/** Verifying what a host presents. */
export { type BearerVerifier, createBearerVerifier, verifyBearer } from './bearer.ts';
export { createTokenVerifier, type TokenRole, type TokenSet, type TokenVerifier, type TokenVersion } from './token.ts';
