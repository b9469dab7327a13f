/** Operators over TCP: a name, a role, and a token that is shown once (design 8). */
import { type Static, Type } from 'typebox';
import { name, shownOnce, time } from './text-kinds.ts';

/** Each role may do what those before it may. */
export const operatorRoles = ['viewer', 'operator', 'admin'] as const;
export type OperatorRole = (typeof operatorRoles)[number];

export const operatorRole = Type.Union([Type.Literal('viewer'), Type.Literal('operator'), Type.Literal('admin')]);

export const addOperatorBody = Type.Object({ name: name(), role: operatorRole });

export const operatorToken = Type.Object({ name: name(), role: operatorRole, token: shownOnce() });
export type OperatorToken = Static<typeof operatorToken>;

export const operatorRow = Type.Object({ name: name(), role: operatorRole, addedAt: time() });
export type OperatorRow = Static<typeof operatorRow>;

export const listOperatorsAnswer = Type.Object({ operators: Type.Array(operatorRow) });
