/** A field that is always there, and may be nothing. */
import { type TSchema, Type } from 'typebox';

export const nullable = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()]);
