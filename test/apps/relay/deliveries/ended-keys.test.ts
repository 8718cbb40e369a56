import { randomUUID } from 'node:crypto';
import { encodeRelayRemoval, type PushKeyId, relayRemovePath, type TokenId } from '@waxwing/protocol';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { forgetEndedKeys } from '#relay/registrations/store/ended-keys.js';
import { removeServer } from '#relay/servers/remove-server.js';
import { idle } from '../../../support/idle.js';
import { eachBackend } from '../../../support/test-databases.js';
import { removal } from '../servers/removal.js';
import {
  apnsRequest,
  apnsToken,
  type DeliveriesUnderTest,
  encryptedData,
  realmUuid,
  startDeliveriesUnderTest,
} from './deliveries-under-test.js';

const start = Date.UTC(2026, 0, 5, 12);
const minute = 60_000;
const longestLife = 28 * 24 * 60 * minute;
const keyId = (id: number) => id as PushKeyId;
const rejected = { status: 'rejected', reason: 'PUSH_KEY_ENDED', fault: 'server' };

eachBackend((backend) => {
  describe('a push key that a server ends', () => {
    const time = { now: start };
    let relay: DeliveriesUnderTest;
    let token: string;
    let tokenId: TokenId;
    let used = 0;
    beforeAll(async () => {
      relay = await startDeliveriesUnderTest({
        databaseUrl: await backend.freshUrl(),
        clock: () => time.now,
        timings: { delayDivisor: 1 },
      });
    });
    afterAll(() => relay.close());
    beforeEach(async () => {
      used += 1;
      token = apnsToken(used);
      tokenId = await relay.addByToken('apns', token);
      await relay.faults([]);
    });

    const request = (push_key_id: number, id = tokenId) => ({
      token_id: id,
      http_headers: { apns_priority: 10, apns_push_type: 'alert' },
      payload: { push_key_id, encrypted_data: encryptedData, aps: { 'mutable-content': 1 } },
    });
    const notify = async (...requests: object[]) => (await relay.notify(requests)).body.results;

    /** Sends a notification while Apple is busy, so that it is queued. Returns its id. */
    async function queue(push_key_id: number, id = tokenId): Promise<string | undefined> {
      await relay.faults([{ vendor: 'apns', status: 503, reason: 'ServiceUnavailable', times: 1 }]);
      const [result] = await notify(request(push_key_id, id));
      expect(result).toMatchObject({ status: 'queued' });
      return result?.notification_id;
    }

    async function remove(form: Record<string, string>, authorization = relay.authorization) {
      const answer = await relay.app.inject({
        method: 'POST',
        url: relayRemovePath,
        headers: { authorization, 'content-type': 'application/x-www-form-urlencoded' },
        payload: new URLSearchParams(form).toString(),
      });
      return answer.json();
    }
    const end = (...ids: number[]) =>
      remove(
        encodeRelayRemoval(realmUuid, {
          endedKeys: ids.map((id) => ({ tokenId, pushKeyId: keyId(id) })),
        }),
      );

    /** Runs the queued notifications. Returns the push key ids of the notifications that reached the phone. */
    async function arrivedKeys(): Promise<unknown[]> {
      time.now += 10 * minute;
      await idle(relay.database.jobs);
      return (await relay.arrived(token)).map(({ body }) => body.push_key_id);
    }

    it('gets no queued notifications, unlike another key of the same token', async () => {
      const [ended, other] = [await queue(1), await queue(2)];
      expect(await end(1)).toEqual({ result: 'success', msg: '' });
      expect(await arrivedKeys()).toEqual([2]);
      expect(await relay.receipts([ended])).toMatchObject([{ ...rejected, notification_id: ended }]);
      expect(await relay.receipts([other])).toMatchObject([{ status: 'sent' }]);
      expect(await relay.metrics.text()).toContain('reason="PUSH_KEY_ENDED"');
    });

    it('gets no notifications for a minute after its end', async () => {
      await end(1);
      time.now += minute;
      expect(await notify(request(1), request(2))).toEqual([rejected, { status: 'sent' }]);
      expect(await arrivedKeys()).toEqual([2]);
    });

    it('does not change the outcomes of notifications with an id', async () => {
      const [one, other] = [{ notification_id: randomUUID() }, { notification_id: randomUUID() }];
      const [sent] = await notify({ ...request(1), ...one });
      expect(sent).toMatchObject({ ...one, status: 'sent' });
      await end(1);
      expect(await notify({ ...request(1), ...one })).toEqual([sent]);
      expect(await notify({ ...request(1), ...other })).toEqual([{ ...rejected, ...other }]);
      time.now += minute + 1;
      expect(await notify({ ...request(1), ...other })).toEqual([{ ...rejected, ...other }]);
      expect(await relay.receipts([other.notification_id])).toMatchObject([rejected]);
    });

    it('does not affect devices of the older generation in the same request', async () => {
      const older = apnsToken(used + 2000);
      const deviceId = await relay.addApns(older);
      await end(1);
      const both = await notify(apnsRequest(deviceId), request(1));
      expect(both).toEqual([{ status: 'sent' }, rejected]);
      expect(await relay.arrived(older)).toHaveLength(1);
    });

    it('gets notifications again if the server still uses the key after a minute', async () => {
      await end(1, 1);
      time.now += minute + 1;
      expect(await notify(request(1))).toEqual([{ status: 'sent' }]);
      await queue(1);
      expect(await arrivedKeys()).toEqual([1, 1]);
      await end(1);
      expect(await notify(request(1))).toEqual([rejected]);
      expect(await arrivedKeys()).toEqual([1, 1]);
    });

    it('ends at the later of two removals, regardless of their order', async () => {
      time.now += minute;
      await end(1);
      time.now -= minute;
      await end(1);
      time.now += minute;
      expect(await notify(request(1))).toEqual([rejected]);
      expect(await arrivedKeys()).toEqual([]);
    });

    it('does not end the same key of another token, or other keys of its token', async () => {
      const other = apnsToken(used + 1000);
      const otherId = await relay.addByToken('apns', other);
      await queue(1, otherId);
      await queue(0xffff_ffff);
      await end(1, 0);
      const results = await notify(request(1, otherId), request(0xffff_ffff), request(0));
      expect(results).toEqual([{ status: 'sent' }, { status: 'sent' }, rejected]);
      expect(await arrivedKeys()).toEqual([0xffff_ffff, 0xffff_ffff]);
      expect(await relay.arrived(other)).toHaveLength(2);
    });

    it('does not end if the removal is malformed or unauthorized', async () => {
      await queue(1);
      const good = { token_id: tokenId, push_key_id: 1 };
      for (const wrong of [
        '',
        '{}',
        '[1]',
        JSON.stringify([{ ...good, push_key_id: '1' }]),
        JSON.stringify([{ ...good, push_key_id: -1 }]),
        JSON.stringify([{ ...good, push_key_id: 0x1_0000_0000 }]),
        JSON.stringify([{ ...good, push_key_id: 1.5 }]),
        JSON.stringify([{ ...good, token_id: 'AAAA' }]),
        JSON.stringify([{ push_key_id: 1 }]),
        JSON.stringify(Array(201).fill(good)),
      ]) {
        expect(await remove({ realm_uuid: realmUuid, token_ids: '[]', ended_keys: wrong })).toMatchObject({
          code: 'BAD_REQUEST',
          msg: expect.stringContaining('at most 200 token ids with push key ids'),
        });
      }
      const form = { realm_uuid: realmUuid, ended_keys: JSON.stringify([good]) };
      expect(await remove(form)).toMatchObject({ code: 'REQUEST_VARIABLE_MISSING' });
      expect(await remove(form, 'Basic AAAA')).toMatchObject({ code: 'UNAUTHORIZED' });
      expect(await arrivedKeys()).toEqual([1]);
    });

    it('is forgotten after the longest TTL of a notification', async () => {
      await relay.database.db.deleteFrom('ended_keys').execute();
      await end(1);
      time.now += 1000;
      await end(2);
      const forget = () => relay.database.write(({ db }) => forgetEndedKeys(db, time.now, 10));
      expect(await forget()).toBe(0);
      time.now += longestLife;
      expect(await forget()).toBe(1);
      time.now += 1;
      expect([await forget(), await forget()]).toEqual([1, 0]);
    });

    it('is removed with its server', async () => {
      await end(1);
      const stored = () => relay.database.db.selectFrom('ended_keys').selectAll().execute();
      expect(await stored()).not.toEqual([]);
      await removeServer(relay.database, removal(relay.server?.serverId ?? '', time.now));
      expect(await stored()).toEqual([]);
    });
  });
});
