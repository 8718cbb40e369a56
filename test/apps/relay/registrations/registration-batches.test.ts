import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { RegistrationBatches } from '#relay/registrations/opening/registration-batches.js';
import { accountIdText, realmId } from '../../../support/ids.js';
import { sodium } from '../keyring/ring-material.js';
import { realmUuid } from '../relay-under-test.js';

const registration = {
  realmId: realmId(1),
  realmUuid,
  addressee: accountIdText(1),
  encryptedPushRegistration: '',
  bouncerPublicKey: 'a key that no ring has',
  others: [],
};

/**
 * Returns the size of each batch if `inEachTurn` registrations arrive in each of `turns` event-loop ticks of a given
 * length. Resolves once all registrations are answered.
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
    sodium,
    clock: () => time.now,
    monotonic: () => time.now,
    // `takeOver` is called once per batch, because `find` never finds a key.
    keyRing: {
      find: () => undefined,
      async takeOver() {
        batches.push(waiting);
        waiting = 0;
      },
    },
    store: { isIdle, saveAll: expect.fail },
    sameToken: { find: async () => [] },
    revocations: { withdraw: async () => [] },
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
  it('are batched per event-loop tick while no tick is cut off', async () => {
    expect(await batchesOf(7)).toEqual([1, 1, 1, 1, 1, 1, 1, 1]);
  });

  it('are batched over at most four ticks while ticks are cut off', async () => {
    expect(await batchesOf(8)).toEqual([4, 4]);
  });

  it('are processed as soon as a batch is full, even if the tick is cut off', async () => {
    expect(await batchesOf(8, 256, 3)).toEqual([256, 256, 256]);
  });

  it('are processed in batches of 16 if the store is idle', async () => {
    expect(await batchesOf(1, 40, 1, true)).toEqual([16, 16, 8]);
  });

  it('are processed in later ticks if more arrive in one tick than fit into a batch', async () => {
    expect(await batchesOf(1, 600, 1)).toEqual([600, 0, 0]);
  });
});
