/** The host and the token that an enrolment claims, read at the same cost whether they are there or not (I13). */
import type { Hub } from '../hub.ts';
import { type EnrolmentTokenRecord, findEnrolmentToken } from '../store/enrolment-tokens.ts';
import { findClaimedHost, type HostRecord } from '../store/hosts.ts';
import type { Db } from '../store/schema.ts';

export interface Claimed {
  readonly host: HostRecord | undefined;
  readonly token: EnrolmentTokenRecord | undefined;
}

export async function readClaimed({ vault }: Pick<Hub, 'vault'>, db: Db, id: string): Promise<Claimed> {
  const host = await findClaimedHost(db, vault, id);
  return { host, token: await findEnrolmentToken(db, vault, id) };
}
