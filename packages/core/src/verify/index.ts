/** Verifying what a host presents. */
export { type BearerVerifier, createBearerVerifier, verifyBearer } from './bearer.ts';
export {
  type FastifyGuardedInstance,
  type FastifyGuardedReply,
  type FastifyGuardedRequest,
  type FastifyGuardPlugin,
  fastifyPlugin,
} from './fastify-plugin.ts';
export { fetchGuard, type GuardedHandler } from './fetch-guard.ts';
export { type Guarded, type GuardOptions, type TokenRefusal, tokenRefusal, type VerifiedToken } from './guard.ts';
export { type NodeMiddleware, type NodeRequest, type NodeResponse, nodeMiddleware } from './node-middleware.ts';
export { createTokenVerifier, type TokenRole, type TokenSet, type TokenVerifier, type TokenVersion } from './token.ts';
