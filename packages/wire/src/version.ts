/** The version of every package of Rollcall; a test holds it against the manifests. */
export const version = '0.1.0';
