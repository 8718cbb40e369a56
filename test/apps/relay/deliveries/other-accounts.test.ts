import { randomUUID } from 'node:crypto';
import { formatPushAccountId, type PushAccountId, type RelayDeviceId } from '@waxwing/protocol';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { applyOutcome } from '#relay/deliveries/queue/apply-outcome.js';
import { bindingOfToken } from '#relay/registrations/store/token-vault.js';
import { idle } from '../../../support/idle.js';
import { eachBackend } from '../../../support/test-databases.js';
import {
  type DeliveriesUnderTest,
  encryptedData,
  fcmRequest,
  pushAccountId,
  startDeliveriesUnderTest,
} from './deliveries-under-test.js';

const otherAccount = 9_007_199_254_740_992n as PushAccountId;
const time = { now: Date.UTC(2026, 0, 5, 12) };
let tokens = 0;

/** A push request for the account that had this device id before a restore of the relay's database. */
const otherRequest = (id: number, more: object = {}) =>
  fcmRequest(id, { payload: { push_account_id: otherAccount, encrypted_data: encryptedData }, ...more });

eachBackend((backend) => {
  describe('a device whose id another account had before a restore', () => {
    let relay: DeliveriesUnderTest;
    let token: string;
    let id: RelayDeviceId;
    beforeAll(async () => {
      const databaseUrl = await backend.freshUrl();
      relay = await startDeliveriesUnderTest({
        databaseUrl,
        clock: () => time.now,
        timings: { delayDivisor: 1 },
      });
    });
    beforeEach(async () => {
      tokens += 1;
      token = `fcm-of-other-accounts-${tokens}`;
      id = await relay.addFcm(token);
    });
    afterEach(() => relay.faults([]));
    afterAll(() => relay.close());

    /** Changes the device's row to what it is after a restore and another phone's registration. */
    async function giveToOtherAccount(): Promise<void> {
      const row = await relay.device(id);
      const identity = { ...row, push_account_id: formatPushAccountId(otherAccount) };
      const sealed = relay.tokenVault.seal(token, bindingOfToken(identity));
      await relay.database.write(({ db }) =>
        db
          .updateTable('relay_devices')
          .set({ push_account_id: identity.push_account_id, token: sealed })
          .where('id', '=', id)
          .execute(),
      );
    }

    it("is unknown in requests for the other account, and gets none of that account's notifications", async () => {
      const { body } = await relay.notify([otherRequest(id)]);
      const unknown = await relay.notify([otherRequest(Number.MAX_SAFE_INTEGER)]);
      expect(body).toEqual({ ...unknown.body, delete_device_ids: [id] });
      expect(body.results).toEqual([{ status: 'gone', reason: 'UNKNOWN_DEVICE' }]);
      expect(await relay.arrived(token)).toEqual([]);
      expect((await relay.device(id)).expired_at).toBeNull();
    });

    it.each([
      ['first', (own: object, other: object) => [own, other]],
      ['last', (own: object, other: object) => [other, own]],
    ])(
      'gets only its own notification, which is %s in a request for both accounts',
      async (_which, order) => {
        const wish = { notification_id: randomUUID() };
        const requests = order(fcmRequest(id, wish), otherRequest(id, wish));
        const statuses = order({ status: 'sent' }, { status: 'gone' });
        for (const _repeat of [1, 2]) {
          const { status, body } = await relay.notify(requests);
          expect(status).toBe(200);
          expect(body.results).toMatchObject(statuses);
          // If the list had this id, the server would delete the device for both accounts.
          expect(body.delete_device_ids).toEqual([]);
          expect(await relay.arrived(token)).toHaveLength(1);
        }
        const receipts = await relay.receipts([wish.notification_id]);
        expect(receipts.map(({ device_id, status }) => [device_id, status]).sort()).toEqual([
          [id, 'gone'],
          [id, 'sent'],
        ]);
      },
    );

    it('is listed once for deletion but has a receipt per account if the device is unknown', async () => {
      const wish = { notification_id: randomUUID() };
      const gone = Number.MAX_SAFE_INTEGER - tokens;
      const { status, body } = await relay.notify([fcmRequest(gone, wish), otherRequest(gone, wish)]);
      expect(status).toBe(200);
      expect(body.results).toMatchObject([{ status: 'gone' }, { status: 'gone' }]);
      expect(body.delete_device_ids).toEqual([gone]);
      const receipts = await relay.receipts([wish.notification_id]);
      expect(receipts).toMatchObject([{ status: 'gone' }, { status: 'gone' }]);
    });

    it('gets its notification despite concurrent "gone" results for the other account', async () => {
      const wish = { notification_id: randomUUID() };
      const answers = await Promise.all([
        relay.notify([otherRequest(id, wish)]),
        relay.notify([fcmRequest(id, wish)]),
        relay.notify([otherRequest(id, wish)]),
      ]);
      expect(answers.flatMap(({ body }) => body.results.map(({ status }) => status))).toEqual([
        'gone',
        'sent',
        'gone',
      ]);
      expect(await relay.arrived(token)).toHaveLength(1);
    });

    it('neither gets nor expires because of notifications queued for the other account', async () => {
      const notification_id = randomUUID();
      await relay.faults([{ vendor: 'fcm', token, status: 503, times: 1 }]);
      const { body } = await relay.notify([fcmRequest(id, { notification_id })]);
      expect(body.results).toMatchObject([{ status: 'queued' }]);
      await giveToOtherAccount();
      time.now += 60_000;
      await idle(relay.database.jobs);
      expect(await relay.receipts([notification_id])).toMatchObject([
        { status: 'gone', reason: 'UNKNOWN_DEVICE' },
      ]);
      expect(await relay.arrived(token)).toEqual([]);
      expect((await relay.device(id)).expired_at).toBeNull();
      expect((await relay.notify([otherRequest(id)])).body.results).toMatchObject([{ status: 'sent' }]);
    });

    it("does not expire when the other account's token dies", async () => {
      const dead = { kind: 'gone', reason: 'UNREGISTERED', ifRegisteredBefore: time.now } as const;
      const outcomeFor = (account: PushAccountId) => {
        const name = {
          realmId: relay.realmId,
          relayDeviceId: id,
          addressee: formatPushAccountId(account),
        };
        return relay.database.write(({ db }) => applyOutcome(db, name, dead, time.now));
      };
      expect(await outcomeFor(otherAccount)).toEqual(dead);
      expect((await relay.device(id)).expired_at).toBeNull();
      expect(await outcomeFor(pushAccountId)).toEqual(dead);
      expect((await relay.device(id)).expired_at).toBe(time.now);
    });
  });
});
