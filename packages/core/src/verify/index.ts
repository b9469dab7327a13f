/** Verifying what a host presents. */
export { type BearerVerifier, createBearerVerifier, verifyBearer } from './bearer.ts';
