/** I10: what cannot be read never reads as "none yet". */
import { assertThat, type Check } from './invariant.ts';

const aDiskWithAStateIsNoFirstBoot: Check = {
  onLoaded: (_world, machine, _wasEmpty, initial) => {
    const hasSlot = [...machine.disk.contents().keys()].some((name) => name.startsWith('state-'));
    const isNew = initial.startup === 'fresh';
    assertThat(!isNew || !hasSlot, 'I10', () => `${machine.name} began anew on a disk that holds a state`);
  },
};

export const unreadableIsNotAbsent: readonly Check[] = [aDiskWithAStateIsNoFirstBoot];
