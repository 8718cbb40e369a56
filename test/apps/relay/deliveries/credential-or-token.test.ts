import type { RelayDeviceId } from '@waxwing/protocol';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { addServer } from '#relay/servers/manage-servers.js';
import { idle } from '../../../support/idle.js';
import { relayDeviceId } from '../../../support/ids.js';
import {
  apnsRequest,
  apnsToken,
  type DeliveriesUnderTest,
  fcmRequest,
  startDeliveriesUnderTest,
} from './deliveries-under-test.js';

const minute = 60_000;
const time = { now: Date.UTC(2026, 0, 5, 12) };
let relay: DeliveriesUnderTest;
beforeEach(async () => {
  relay = await startDeliveriesUnderTest({ clock: () => time.now, timings: { delayDivisor: 1 } });
});
afterEach(() => relay.close());

async function notifyOne(request: object) {
  const { body } = await relay.notify([request]);
  return body.results[0] ?? { status: 'none' };
}

describe('a refusal that may blame either the credential or a token', () => {
  const refusal = { vendor: 'fcm', reason: 'THIRD_PARTY_AUTH_ERROR' };
  const otherRealm = '11111111-2222-4333-8444-555555555555';
  const thirdRealm = '11111111-2222-4333-8444-666666666666';

  async function addFcms(prefix: string, count: number, realm = relay.realmId): Promise<RelayDeviceId[]> {
    const ids: RelayDeviceId[] = [];
    for (let index = 0; index < count; index += 1)
      ids.push(await relay.addFcm(`${prefix}-${index}`, { realm }));
    return ids;
  }

  /** Adds a server with one realm. Returns the realm, and a function that notifies its devices. */
  async function addOtherRealm(uuid = otherRealm) {
    const other = await addServer(relay.database, { name: uuid, realmUuids: [uuid] }, time.now);
    const { id: realm } = await relay.database.db
      .selectFrom('realms')
      .select('id')
      .where('uuid', '=', uuid)
      .executeTakeFirstOrThrow();
    const key = `${other.serverId}:${other.serverKey.reveal()}`;
    const authorization = `Basic ${Buffer.from(key).toString('base64')}`;
    const notify = (ids: readonly number[]) =>
      relay.notify(
        ids.map((id) => fcmRequest(id)),
        { authorization, body: { realm_uuid: uuid } },
      );
    return { realm, notify };
  }

  /** Whether the credential's circuit breaker is open, according to the metrics. */
  const isOpen = async () =>
    /waxwing_app_breaker_open\{[^}]*kind="credential"\} 1/.test(await relay.metrics.text());

  const statuses = ({ body }: { body: { results: { status: string }[] } }) =>
    body.results.map(({ status }) => status);

  it('does not pause other devices if it concerns one token, and is retried with growing delays', async () => {
    const [bad = relayDeviceId(0)] = await addFcms('bad', 1);
    const [good = 0] = await addFcms('good', 1);
    await relay.faults([{ ...refusal, token: 'bad-0' }]);
    for (let round = 0; round < 10; round += 1) await notifyOne(fcmRequest(bad));
    expect(await notifyOne(fcmRequest(good))).toEqual({ status: 'sent' });
    expect((await relay.ready()).checks.vendors).toBe('ok');
    const result = await notifyOne(fcmRequest(bad));
    expect(result).toMatchObject({ status: 'queued', reason: 'THIRD_PARTY_AUTH_ERROR' });
    time.now += 80_000;
    await idle(relay.database.jobs);
    const [receipt] = await relay.receipts([result.notification_id]);
    expect(receipt).toMatchObject({ status: 'queued', attempts: 2 });
    expect((await relay.device(bad)).expired_at).toBeNull();
  });

  it('does not pause other realms if it concerns all tokens of one realm', async () => {
    const other = await addOtherRealm();
    const [theirs = 0] = await addFcms('theirs', 1, other.realm);
    await other.notify([theirs]);
    const bad = await addFcms('bad', 25);
    await relay.faults(bad.map((_id, index) => ({ ...refusal, token: `bad-${index}` })));
    await relay.notify(bad.map((id) => fcmRequest(id)));
    await relay.notify(bad.map((id) => fcmRequest(id)));
    expect((await relay.ready()).checks.vendors).toBe('ok');
    expect(statuses(await other.notify([theirs]))).toEqual(['sent']);
  });

  it('counts against the credential if it concerns several tokens of several realms', async () => {
    const other = await addOtherRealm();
    const theirs = await addFcms('theirs', 2, other.realm);
    const ours = await addFcms('ours', 2);
    await relay.faults([refusal]);
    await other.notify(theirs);
    expect(await isOpen()).toBe(false);
    await relay.notify(ours.map((id) => fcmRequest(id)));
    expect(await isOpen()).toBe(true);
    expect(relay.log.text()).toContain(
      'was refused: its notifications are paused until the credential works',
    );
    const sentBefore = (await relay.arrived()).length;
    expect(statuses(await other.notify(theirs))).toEqual(['queued', 'queued']);
    expect(await relay.arrived()).toHaveLength(sentBefore);
  });

  it('counts against the credential only until the relay reaches another phone', async () => {
    const bad = await addFcms('bad', 25);
    const [good = 0] = await addFcms('good', 1);
    await relay.faults(bad.map((_id, index) => ({ ...refusal, token: `bad-${index}` })));
    // The app has only one realm, so the relay blames the credential.
    await relay.notify(bad.map((id) => fcmRequest(id)));
    expect(await isOpen()).toBe(true);
    // A device that was refused earlier does not use up the probe.
    expect(await notifyOne(fcmRequest(bad[0] ?? 0))).toMatchObject({ status: 'queued' });
    expect(await notifyOne(fcmRequest(good))).toEqual({ status: 'sent' });
    expect(await isOpen()).toBe(false);
    // For a day, refusals for these devices do not pause other devices.
    await relay.notify(bad.map((id) => fcmRequest(id)));
    expect(await isOpen()).toBe(false);
    expect(await notifyOne(fcmRequest(good))).toEqual({ status: 'sent' });
    // Nor do these devices use up the probe while other devices are refused.
    const worse = await addFcms('worse', 3);
    await relay.faults([
      ...bad.map((_id, index) => ({ ...refusal, token: `bad-${index}` })),
      ...worse.map((_id, index) => ({ ...refusal, token: `worse-${index}` })),
    ]);
    await relay.notify(worse.map((id) => fcmRequest(id)));
    expect(await isOpen()).toBe(true);
    expect(await notifyOne(fcmRequest(bad[0] ?? 0))).toMatchObject({ status: 'queued' });
    expect(await notifyOne(fcmRequest(good))).toEqual({ status: 'sent' });
  });

  it('no longer counts against the credential once the relay reaches a refused phone', async () => {
    const ids = await addFcms('fcm', 3);
    await relay.faults([refusal]);
    await relay.notify(ids.map((id) => fcmRequest(id)));
    expect(await isOpen()).toBe(true);
    await relay.faults([]);
    time.now += 2 * minute;
    await idle(relay.database.jobs);
    await relay.notify(ids.map((id) => fcmRequest(id)));
    expect(await isOpen()).toBe(false);
  });

  it('leaves the relay ready if all phones in one Apple environment are refused', async () => {
    // The phone chooses Apple's environment when it registers, and a key may be valid only in the other environment.
    await relay.faults([{ vendor: 'apns', environment: 'sandbox', reason: 'BadEnvironmentKeyIdInToken' }]);
    for (let index = 0; index < 3; index += 1) {
      const id = await relay.addApns(apnsToken(index), { environment: 'sandbox' });
      expect(await notifyOne(apnsRequest(id))).toMatchObject({ status: 'queued' });
    }
    expect(await isOpen()).toBe(true);
    expect((await relay.ready()).checks.vendors).toBe('ok');
    expect(await notifyOne(apnsRequest(await relay.addApns(apnsToken(9))))).toEqual({ status: 'sent' });
  });

  it('becomes a readiness warning when the vendor blames the credential explicitly', async () => {
    const ids = await addFcms('fcm', 4);
    await relay.faults([refusal]);
    await relay.notify(ids.slice(0, 3).map((id) => fcmRequest(id)));
    expect((await relay.ready()).checks.vendors).toBe('ok');
    await relay.faults([{ vendor: 'fcm', reason: 'PERMISSION_DENIED' }]);
    await notifyOne(fcmRequest(ids[3] ?? 0));
    expect((await relay.ready()).checks.vendors).toContain('PERMISSION_DENIED');
    // A later refusal that a single token may have caused does not remove the warning.
    time.now += minute + 1;
    await relay.faults([refusal]);
    await notifyOne(fcmRequest(await relay.addFcm('another')));
    await idle(relay.database.jobs);
    expect((await relay.ready()).checks.vendors).toContain('warning: ');
  });

  it('does not delay phones of other realms if it concerns a new phone that is first in the queue', async () => {
    const [second, third] = [await addOtherRealm(), await addOtherRealm(thirdRealm)];
    const ours = await addFcms('bad-ours', 3);
    const [theirs = 0] = await addFcms('bad-theirs', 1, second.realm);
    const [honest = 0] = await addFcms('good', 1, third.realm);
    await third.notify([honest]);
    const bad = ['bad-ours-0', 'bad-ours-1', 'bad-ours-2', 'bad-theirs-0'];
    await relay.faults(bad.map((token) => ({ ...refusal, token })));
    await second.notify([theirs]);
    await relay.notify(ours.slice(0, 2).map((id) => fcmRequest(id)));
    expect(await isOpen()).toBe(true);
    // The relay tries a new device with a refused token before the third realm's phone.
    await notifyOne(fcmRequest(ours[2] ?? 0));
    expect(await isOpen()).toBe(true);
    expect(statuses(await third.notify([honest]))).toEqual(['sent']);
    expect(await isOpen()).toBe(false);
  });

  it('is counted per key for bundle ids that the apps file does not list', async () => {
    await relay.faults(
      Array.from({ length: 6 }, (_none, index) => ({
        vendor: 'apns',
        reason: 'Forbidden',
        token: apnsToken(index),
      })),
    );
    expect(await notifyOne(apnsRequest(await relay.addApns(apnsToken(9))))).toEqual({ status: 'sent' });
    for (let index = 0; index < 6; index += 1) {
      const id = await relay.addApns(apnsToken(index), {
        appId: `org.example.made-up-${Math.floor(index / 3)}`,
      });
      await notifyOne(apnsRequest(id));
      await notifyOne(apnsRequest(await relay.addApns(apnsToken(10 + index))));
    }
    expect(await isOpen()).toBe(false);
    expect(await relay.metrics.text()).not.toContain('made-up');
  });
});
