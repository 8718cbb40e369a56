import { afterEach, describe, expect, it } from 'vitest';
import { findUnreadableDevices } from '#relay/registrations/store/unreadable-devices.js';
import {
  apnsRequest,
  type DeliveriesUnderTest,
  encryptedData,
  fcmRequest,
  pushAccountId,
  startDeliveriesUnderTest,
  until,
} from './deliveries-under-test.js';

const fid = 'dQw4w9WgXcQ_-0123456aZ';
const unregistered = { vendor: 'fcm', token: fid, status: 404, reason: 'UNREGISTERED' };
const day = 86_400_000;

let relay: DeliveriesUnderTest;
afterEach(() => relay.close());

async function start(entry: object = {}, clock?: () => number): Promise<DeliveriesUnderTest> {
  relay = await startDeliveriesUnderTest({
    apps: ({ credentials }) => ({
      fcm: [{ service_account_file: credentials.serviceAccountFile, ...entry }],
    }),
    ...(clock && { clock }),
  });
  return relay;
}

/** Returns the first message that arrived for a token. */
async function messageTo(token: string): Promise<Record<string, unknown>> {
  const [delivery] = await relay.arrived(token);
  return delivery?.body.message as Record<string, unknown>;
}

describe('a phone that registered with its Firebase installation id', () => {
  it.each([
    [{}, 'token'],
    [{ address_by: 'fid' }, 'fid'],
  ])(
    'with the app settings %j, is addressed by the %s field, unlike a registration token',
    async (entry, field) => {
      await start(entry);
      const token = `${fid.replace('d', 'c')}:APA91b`;
      const ids = [await relay.addFcm(fid), await relay.addFcm(token)];
      const { body } = await relay.notify(ids.map((id) => fcmRequest(id)));
      expect(body.results).toEqual([{ status: 'sent' }, { status: 'sent' }]);
      expect(Object.keys(await messageTo(fid)).sort()).toEqual(['android', 'data', field]);
      expect(await messageTo(token)).toMatchObject({ token });
    },
  );

  it('is kept and retried for a day if Google does not know it yet', async () => {
    await start();
    const id = await relay.addFcm(fid);
    await relay.faults([{ ...unregistered, times: 2 }]);
    const { body } = await relay.notify([fcmRequest(id)]);
    expect(body).toMatchObject({
      delete_device_ids: [],
      results: [{ status: 'queued', reason: 'UNREGISTERED' }],
    });
    await until(async () => (await relay.arrived(fid)).length === 1);
    expect((await relay.settled(body.results[0]?.notification_id)).status).toBe('sent');
    expect(await relay.device(id)).toMatchObject({ expired_at: null });
  });

  it('is deleted if Google does not know it a day after the registration', async () => {
    await start();
    const id = await relay.addFcm(fid, { registeredAt: Date.now() - day });
    await relay.faults([unregistered]);
    expect((await relay.notify([fcmRequest(id)])).body).toMatchObject({
      delete_device_ids: [id],
      results: [{ status: 'gone', reason: 'UNREGISTERED' }],
    });
  });

  it('is deleted immediately if Google rejects the id as invalid', async () => {
    await start({ address_by: 'fid' });
    const id = await relay.addFcm(fid);
    await relay.faults([
      { vendor: 'fcm', token: fid, status: 400, reason: 'INVALID_ARGUMENT', field: 'message.fid' },
    ]);
    expect((await relay.notify([fcmRequest(id)])).body.results).toEqual([
      { status: 'gone', reason: 'INVALID_TOKEN' },
    ]);
  });

  it('loses its older registration token with the first notification to its installation id', async () => {
    await start({ address_by: 'fid' });
    const token = `${fid}:APA91b`;
    const [old, current] = [await relay.addFcm(token), await relay.addFcm(fid)];
    expect((await relay.notify([fcmRequest(old)])).body.results).toEqual([{ status: 'sent' }]);
    await relay.notify([fcmRequest(current)]);
    const { body } = await relay.notify([fcmRequest(old), fcmRequest(current)]);
    expect(body).toMatchObject({ delete_device_ids: [old], android_successfully_sent_count: 1 });
  });

  it('is not assumed if a registration token only looks like an installation id', async () => {
    await start({ address_by: 'fid' });
    const longer = `${fid}a`;
    const id = await relay.addFcm(longer);
    await relay.faults([{ ...unregistered, token: longer }]);
    expect((await relay.notify([fcmRequest(id)])).body.results).toMatchObject([{ status: 'gone' }]);
  });
});

describe('an app with AndroidConfigV2 enabled', () => {
  it('gets urgent notifications with a placeholder, and other notifications as a background sync', async () => {
    await start({ android_v2: true });
    const tokens = ['urgent:1', 'calm:1'];
    const ids = [await relay.addFcm('urgent:1'), await relay.addFcm('calm:1')];
    const { body } = await relay.notify([
      fcmRequest(ids[0] ?? 0, { ttl_seconds: 60, collapse_id: 'c' }),
      fcmRequest(ids[1] ?? 0, { fcm_priority: 'normal' }),
    ]);
    expect(body.results).toEqual([{ status: 'sent' }, { status: 'sent' }]);
    const data = { push_account_id: String(pushAccountId), encrypted_data: encryptedData };
    const [urgent, calm] = [await messageTo(tokens[0] ?? ''), await messageTo(tokens[1] ?? '')];
    expect(urgent).toEqual({
      token: 'urgent:1',
      data,
      android_v2: {
        remote_notification: {
          mutable_content: true,
          use_as_v1_data_message: true,
          notification: { title: 'New notification' },
        },
        ttl: expect.stringMatching(/^(59|60)s$/),
        collapse_key: expect.any(String),
      },
    });
    expect(calm).toEqual({
      token: 'calm:1',
      data,
      android_v2: { background_sync: {}, ttl: '2419200s' },
    });
  });
});

describe('a stored token of an unknown kind', () => {
  it('gets no notifications, is not deleted, and does not affect other tokens', async () => {
    await start();
    const [future, known] = [await relay.addFcm('of the future'), await relay.addFcm('known')];
    await relay.database.db
      .updateTable('relay_devices')
      .set({ token_kind: 'unifiedpush' })
      .where('id', '=', future)
      .execute();
    const { body } = await relay.notify([fcmRequest(future), apnsRequest(future), fcmRequest(known)]);
    const rejected = { status: 'rejected', reason: 'UNKNOWN_TOKEN_KIND', fault: 'relay' };
    expect(body.results).toEqual([rejected, rejected, { status: 'sent' }]);
    expect(body.delete_device_ids).toEqual([]);
    expect(await relay.device(future)).toMatchObject({ token_kind: 'unifiedpush', expired_at: null });
    expect(await relay.ready()).toMatchObject({ ready: true });
    // `keys remove-unreadable` would remove the devices that this call finds.
    expect((await findUnreadableDevices(relay.database, relay.tokenVault)).devices).toEqual([]);
    expect(await relay.metrics.text()).toContain('waxwing_unreadable_tokens 0');
  });
});
