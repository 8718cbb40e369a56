import { afterEach, describe, expect, it } from 'vitest';
import { eachBackend } from '../../../support/test-databases.js';
import {
  type DeliveriesUnderTest,
  startDeliveriesUnderTest,
  until,
} from '../deliveries/deliveries-under-test.js';
import { connectStockServer, fcmElement, type StockServer } from './stock-server.js';

const fid = 'dQw4w9WgXcQ_-0123456aZ';
const unregistered = { vendor: 'fcm', token: fid, status: 404, reason: 'UNREGISTERED' };
const day = 86_400_000;

eachBackend((backend) => {
  let relay: DeliveriesUnderTest;
  let server: StockServer;
  /** Lead of the relay's clock over the system clock, in milliseconds. */
  let ahead = 0;
  afterEach(() => relay.close());

  /** Starts a relay with a single Firebase app. `entry` adds fields to its entry in the apps file. */
  async function start(entry: object = {}): Promise<void> {
    ahead = 0;
    relay = await startDeliveriesUnderTest({
      databaseUrl: await backend.freshUrl(),
      apps: ({ credentials }) => ({
        fcm: [{ service_account_file: credentials.serviceAccountFile, ...entry }],
      }),
      clock: () => Date.now() + ahead,
    });
    server = await connectStockServer(relay);
  }

  /** Registers a token over HTTP. Returns its id. */
  async function register(token: string): Promise<string> {
    const form = server.form(token, { timestamp: Math.floor((Date.now() + ahead) / 1000) });
    expect((await server.register(form)).status).toBe(200);
    return form.token_id ?? '';
  }

  async function messageTo(token: string): Promise<Record<string, unknown>> {
    const [delivery] = await relay.arrived(token);
    return delivery?.body.message as Record<string, unknown>;
  }

  const resultsOf = async (...ids: string[]) => (await server.notify(ids.map((id) => fcmElement(id)))).body;

  describe('a token of the newer generation that is a Firebase installation id', () => {
    it.each([
      [{}, 'token'],
      [{ address_by: 'fid' }, 'fid'],
    ])(
      'is sent in an app with %j in the field %s, and a registration token in the field token',
      async (entry, field) => {
        await start(entry);
        const token = `${fid.replace('d', 'c')}:APA91b`;
        const body = await resultsOf(await register(fid), await register(token));
        expect(body.results).toEqual([{ status: 'sent' }, { status: 'sent' }]);
        const data = { push_key_id: '20', encrypted_data: expect.any(String) };
        expect(await messageTo(fid)).toEqual({ [field]: fid, data, android: expect.anything() });
        expect(await messageTo(token)).toMatchObject({ token, data });
      },
    );

    it('is retried, not deleted, if Google does not know it on the first day', async () => {
      await start();
      const id = await register(fid);
      ahead = day - 60_000;
      await relay.faults([{ ...unregistered, times: 2 }]);
      const body = await resultsOf(id);
      expect(body).toMatchObject({
        delete_token_ids: [],
        results: [{ status: 'queued', reason: 'UNREGISTERED' }],
      });
      await until(async () => (await relay.arrived(fid)).length === 1);
      expect((await resultsOf(id)).results).toEqual([{ status: 'sent' }]);
    });

    it('is deleted if Google does not know it after a day, and counts as new after another registration', async () => {
      await start();
      const id = await register(fid);
      ahead = day;
      await relay.faults([unregistered]);
      const gone = { delete_token_ids: [id], results: [{ status: 'gone', reason: 'UNREGISTERED' }] };
      expect(await resultsOf(id)).toMatchObject(gone);
      await register(fid);
      // The token counts as new, because Google may not know it yet.
      expect(await resultsOf(id)).toMatchObject({ delete_token_ids: [], results: [{ status: 'queued' }] });
    });

    it('is deleted immediately if Google reports that it is not an installation id', async () => {
      await start({ address_by: 'fid' });
      const id = await register(fid);
      await relay.faults([
        { vendor: 'fcm', token: fid, status: 400, reason: 'INVALID_ARGUMENT', field: 'message.fid' },
      ]);
      expect(await resultsOf(id)).toMatchObject({
        delete_token_ids: [id],
        results: [{ status: 'gone', reason: 'INVALID_TOKEN' }],
      });
    });

    it('is treated as a registration token if it is one character too long', async () => {
      await start({ address_by: 'fid' });
      const longer = `${fid}a`;
      const id = await register(longer);
      await relay.faults([{ ...unregistered, token: longer }]);
      expect(await resultsOf(id)).toMatchObject({ delete_token_ids: [id], results: [{ status: 'gone' }] });
    });

    it('replaces the registration token of its phone after the first notification', async () => {
      await start({ address_by: 'fid' });
      const [old, current] = [await register(`${fid}:APA91b`), await register(fid)];
      expect((await resultsOf(old)).results).toEqual([{ status: 'sent' }]);
      await resultsOf(current);
      expect(await resultsOf(old, current)).toMatchObject({
        delete_token_ids: [old],
        android_successfully_sent_count: 1,
      });
    });
  });

  describe('an app with android_v2', () => {
    it('gets urgent notifications with a placeholder, and other notifications as a background sync', async () => {
      await start({ android_v2: true });
      const [urgent, calm] = [await register('urgent:1'), await register('calm:1')];
      const { body } = await server.notify([
        fcmElement(urgent),
        fcmElement(calm, { fcm_priority: 'normal' }),
      ]);
      expect(body.results).toEqual([{ status: 'sent' }, { status: 'sent' }]);
      const data = { push_key_id: '20', encrypted_data: expect.any(String) };
      expect(await messageTo('urgent:1')).toEqual({
        token: 'urgent:1',
        data,
        android_v2: {
          remote_notification: {
            mutable_content: true,
            use_as_v1_data_message: true,
            notification: { title: 'New notification' },
          },
          ttl: '2419200s',
        },
      });
      expect(await messageTo('calm:1')).toEqual({
        token: 'calm:1',
        data,
        android_v2: { background_sync: {}, ttl: '2419200s' },
      });
    });
  });
});
