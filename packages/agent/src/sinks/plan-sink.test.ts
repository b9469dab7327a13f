/** What is done about a sink, case by case: the rows differ in one thing each. */
import { describe, expect, it } from 'vitest';
import type { LiveSink } from './live-sink.ts';
import { planSink, type SinkRecord, type WantedSink, wantedKey } from './plan-sink.ts';
import type { Projection } from './project-assignment.ts';

const projection: Projection = {
  secret: 'fleet',
  epoch: 1,
  step: 4,
  version: 2,
  content: new Map(),
  digest: 'new',
};
const wanted: WantedSink = { projection, mode: 0o640 };
const next: WantedSink = { ...wanted, projection: { ...projection, step: 5, version: 3, digest: 'newer' } };
/** Another step that says the same. */
const sameAgain: WantedSink = { ...wanted, projection: { ...projection, step: 5 } };

const ours = '.web.rollcall-0123456789abcdef';
const written = {
  epoch: 1,
  step: 4,
  version: 2,
  directory: ours,
  digest: 'new',
  looks: 'l',
  wanted: wantedKey(wanted),
};
const record: SinkRecord = { name: 'web', path: '/etc/web', written, isReloadDue: false };
const writing: SinkRecord = { ...record, writing: '.web.rollcall-fedcba9876543210' };
const firstWriting: SinkRecord = { name: 'web', path: '/etc/web', writing: ours, isReloadDue: true };

const told: SinkRecord = { name: 'web', path: '/etc/web', isReloadDue: false };

const content = { digest: 'new', looks: 'l' };
const link = { kind: 'link', target: ours, isOurName: true, content } as const;
const absent: LiveSink = { kind: 'absent' };
const foreign: LiveSink = { kind: 'foreign' };
const elsewhere: LiveSink = { kind: 'link', target: '/srv/token', isOurName: false, content: null };
const otherContent: LiveSink = { ...link, content: { ...content, digest: 'changed' } };
const otherLooks: LiveSink = { ...link, content: { ...content, looks: 'changed' } };
const dangling: LiveSink = { ...link, content: null };
const turnedBack: LiveSink = { ...link, target: '.web.rollcall-fedcba9876543210' };

describe('a sink', () => {
  it.each<readonly [string, WantedSink | 'dropped' | undefined, SinkRecord | undefined, LiveSink, string]>([
    ['whose secret is not held stays away', undefined, undefined, absent, 'nothing'],
    ['whose secret is held no more stays as it is', undefined, record, link, 'nothing'],
    ['that nobody has written is written', wanted, undefined, absent, 'write'],
    ['that lies there as it was written stays', wanted, record, link, 'nothing'],
    ['whose step says the same stays', sameAgain, record, link, 'nothing'],
    ['with another content is written', next, record, link, 'write'],
    ['with another mode is written', { ...wanted, mode: 0o600 }, record, link, 'write'],
    ['with another owner is written', { ...wanted, uid: 33 }, record, link, 'write'],
    ['with another group is written', { ...wanted, gid: 33 }, record, link, 'write'],
    ['that is gone, as after a boot, is written', wanted, record, absent, 'write'],
    ['that a crash may have left half done is written', wanted, writing, link, 'write'],
    ['that a crash left at its first write is written', wanted, firstWriting, absent, 'write'],
    ['that a crash left turned at its first write is written', wanted, firstWriting, link, 'write'],
    ['of an agent before this one is taken over', wanted, undefined, link, 'write'],
    ['of an agent before this one that leads to nothing is taken over', wanted, undefined, dangling, 'write'],

    ['with another content in its files has drifted', wanted, record, otherContent, 'drifted'],
    ['with other owners or modes has drifted', wanted, record, otherLooks, 'drifted'],
    ['that leads elsewhere has drifted', wanted, record, elsewhere, 'drifted'],
    ['that leads to nothing has drifted', wanted, record, dangling, 'drifted'],
    ['that was turned back has drifted', wanted, record, turnedBack, 'drifted'],
    ['that has drifted is written at the next content', next, record, otherContent, 'write'],
    ['that has drifted is written at the next step', sameAgain, record, otherLooks, 'write'],
    ['that leads elsewhere is written at the next step', sameAgain, record, elsewhere, 'write'],

    ['whose secret was dropped goes', 'dropped', record, link, 'take_away'],
    ['whose secret was dropped goes, whatever it holds', 'dropped', record, otherContent, 'take_away'],
    ['whose secret was dropped goes, also what a write left', 'dropped', firstWriting, absent, 'take_away'],
    ['whose secret was dropped goes, also beside a link that is not ours', 'dropped', record, elsewhere, 'take_away'],
    ['whose secret was dropped goes, also beside a file', 'dropped', record, foreign, 'take_away'],
    ['whose secret was dropped goes, also that of an agent before this one', 'dropped', undefined, link, 'take_away'],
    ['whose secret was dropped is gone', 'dropped', { ...told, isReloadDue: true }, absent, 'nothing'],
    ['whose secret was dropped and that is a file stays', 'dropped', undefined, foreign, 'nothing'],
    ['whose secret was dropped and that leads elsewhere stays', 'dropped', undefined, elsewhere, 'nothing'],
    ['whose secret was given back is written', wanted, told, absent, 'write'],

    ['that is a file is in the way', wanted, undefined, foreign, 'in_the_way'],
    ['that became a file is in the way', wanted, record, foreign, 'in_the_way'],
    ['that became a file is in the way of the next content too', next, record, foreign, 'in_the_way'],
    ['that became a file during a write is in the way', wanted, writing, foreign, 'in_the_way'],
    ['that is a file is in the way before the secret is held', undefined, undefined, foreign, 'in_the_way'],
    ['that is a link of somebody else is in the way', wanted, undefined, elsewhere, 'in_the_way'],
  ])('%s', (_what, want, remembered, live, decision) => {
    expect(planSink(want, remembered, live)).toBe(decision);
  });
});
