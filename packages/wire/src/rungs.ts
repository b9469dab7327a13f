/** Rungs: what a host presents (design 3). */
import { Type } from 'typebox';

export const rung = Type.Union([Type.Literal('fleet-token'), Type.Literal('host-token'), Type.Literal('derived')]);
