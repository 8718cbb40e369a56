import { setImmediate as nextTurn } from 'node:timers/promises';
import type { PushAccountId } from '@waxwing/protocol';
import { describe, expect, it } from 'vitest';
import { RegistrationBatches } from '#relay/registrations/opening/registration-batches.js';
import { realmId } from '../../../support/ids.js';
import { sodium } from '../keyring/ring-material.js';
import { realmUuid } from '../relay-under-test.js';

const registration = {
  realmId: realmId(1),
  realmUuid,
  pushAccountId: 1n as PushAccountId,
  encryptedPushRegistration: '',
  bouncerPublicKey: 'a key that no ring has',
};

/**
 * How many registrations had arrived since those before were taken, each time that some were taken together, when so many
 * arrive in each of some turns that take so long; once all are answered.
 */
async function batchesOf(
  turnMilliseconds: number,
  inEachTurn = 1,
  turns = 8,
  isIdle = false,
): Promise<number[]> {
  const time = { now: 0 };
  const batches: number[] = [];
  let waiting = 0;
  const registrations = new RegistrationBatches({
    ...{ sodium, clock: () => time.now, monotonic: () => time.now },
    // Asked for once for each batch, as nobody has the key.
    keyRing: {
      find: () => undefined,
      async takeOver() {
        batches.push(waiting);
        waiting = 0;
      },
    },
    store: { isIdle, saveAll: expect.fail },
  });
  const refusals: Promise<void>[] = [];
  for (let turn = 0; turn < turns; turn += 1) {
    for (let arrived = 0; arrived < inEachTurn; arrived += 1) {
      waiting += 1;
      const refused = expect(registrations.register(registration)).rejects;
      refusals.push(refused.toMatchObject({ code: 'INVALID_BOUNCER_PUBLIC_KEY' }));
    }
    time.now += turnMilliseconds;
    await nextTurn();
  }
  await Promise.all(refusals);
  return batches;
}

describe('registrations', () => {
  it('are taken by turns of the event loop while each has time for all that came', async () => {
    expect(await batchesOf(7)).toEqual([1, 1, 1, 1, 1, 1, 1, 1]);
  });

  it('of four turns at most are taken together while turns are cut off', async () => {
    expect(await batchesOf(8)).toEqual([4, 4]);
  });

  it('are taken by turns that are cut off once they are as many as are taken together', async () => {
    expect(await batchesOf(8, 256, 3)).toEqual([256, 256, 256]);
  });

  it('are taken sixteen at a time by a store that works beside the event loop and has nothing to do', async () => {
    expect(await batchesOf(1, 40, 1, true)).toEqual([16, 16, 8]);
  });

  it('are all taken, some turns later, where more arrive in one than are taken together', async () => {
    expect(await batchesOf(1, 600, 1)).toEqual([600, 0, 0]);
  });
});
