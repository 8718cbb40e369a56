import { relayNotifyPath, relayRegisterManyPath, relayRegisterPath } from '@waxwing/protocol';
import { readReport } from '@waxwing/server-push';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { userId as user } from '../../support/ids.js';
import { PushServer, tokenGroup, tokenIdOf } from '../../support/push-server.js';
import { eachBackend } from '../../support/test-databases.js';

const ada = user(7);
const content = { type: 'test', time: 1 } as const;
const registerPaths: readonly string[] = [relayRegisterPath, relayRegisterManyPath];

eachBackend((backend) => {
  describe('a notification for a dead registration, while the phone registers again,', () => {
    let server: PushServer;
    /** Whether the relay accepts registrations. */
    let isTaking: boolean;
    let deadDevices: readonly number[];
    /** Runs while the relay processes a notify request. */
    let meanwhile: () => Promise<unknown>;
    let deviceId: number;
    beforeEach(async () => {
      server = await PushServer.start(backend);
      isTaking = true;
      deadDevices = [];
      meanwhile = async () => undefined;
      server.relay.around = async ({ path }, react) => {
        if (!isTaking && registerPaths.includes(path)) return { status: 503 };
        if (path !== relayNotifyPath) return react();
        const reaction = Object(react());
        await meanwhile();
        return { ...reaction, body: { ...reaction.body, delete_device_ids: deadDevices } };
      };
      await server.activeDevice(ada, 'steady');
    });
    afterEach(() => server.close());

    const notify = async () => {
      await server.push.notify([ada], { content, giveUpAt: server.now + 60_000, reportId: 'report' });
      await server.settle();
    };
    const report = async () =>
      (await readReport(server.database.db, 'report')).map(({ status, devices }) => [status, devices]);
    const reached = () =>
      server.relay.deliveries
        .map(({ deviceId, tokenId }) => deviceId ?? tokenId)
        .filter((each) => each !== tokenIdOf('steady'));
    const deliveryJobs = () => server.database.jobs.list({ kind: 'notifications/deliver-notification' });

    const registerNewToken = () => server.register(ada, deviceId, tokenGroup('new'));
    async function dieWhilePending(): Promise<void> {
      deviceId = await server.activeDevice(ada, 'old', 2);
      server.relay.tokens.delete(tokenIdOf('old'));
      isTaking = false;
      await registerNewToken();
      await server.settle();
    }

    it('is sent again once the relay has the new token, and reported as sent', async () => {
      await dieWhilePending();
      await notify();
      await server.pass(4000);
      expect([reached(), await report()]).toEqual([[], [['sent', 1]]]);
      isTaking = true;
      for (let seconds = 0; seconds < 20; seconds += 4) await server.pass(4000);
      expect(reached()).toEqual([tokenIdOf('new')]);
      expect(await report()).toEqual([
        ['sent', 1],
        ['sent', 1],
      ]);
      expect(await deliveryJobs()).toEqual([]);
    });

    it('is sent again if the relay confirms the new token during the request', async () => {
      deviceId = await server.activeDevice(ada, 'old', 2);
      server.relay.tokens.delete(tokenIdOf('old'));
      meanwhile = async () => {
        meanwhile = async () => undefined;
        await registerNewToken();
        const inForce = server.database.db
          .selectFrom('client_devices')
          .select('id')
          .where('push_token_id', '=', tokenIdOf('new'));
        await vi.waitFor(async () => expect(await inForce.execute()).toHaveLength(1), 10_000);
      };
      await notify();
      await server.pass(1000);
      expect(reached()).toEqual([tokenIdOf('new')]);
    });

    it('is sent again to a phone of the older generation', async () => {
      await server.activeAccount(ada, '1');
      isTaking = false;
      await server.activeAccount(ada, '1');
      deadDevices = [1];
      await notify();
      [deadDevices, isTaking] = [[], true];
      server.relay.deliveries.length = 0;
      for (let seconds = 0; seconds < 20; seconds += 4) await server.pass(4000);
      expect(reached()).toEqual([2]);
    });

    it('expires after its TTL', async () => {
      await dieWhilePending();
      await notify();
      for (let seconds = 0; seconds < 60; seconds += 4) await server.pass(4000);
      isTaking = true;
      await server.pass(600_000);
      expect([reached(), await deliveryJobs()]).toEqual([[], []]);
      expect(await report()).toEqual([
        ['sent', 1],
        ['gone', 1],
      ]);
    });

    it('ends as gone if the relay refuses the new token', async () => {
      await dieWhilePending();
      await notify();
      [isTaking, server.relay.refusal] = [true, 'BAD_REQUEST'];
      for (let seconds = 0; seconds < 20; seconds += 4) await server.pass(4000);
      expect([reached(), await deliveryJobs()]).toEqual([[], []]);
      expect(await report()).toEqual([
        ['sent', 1],
        ['gone', 1],
      ]);
    });

    it('ends as gone if the phone does not register', async () => {
      deviceId = await server.activeDevice(ada, 'old', 2);
      server.relay.tokens.delete(tokenIdOf('old'));
      await notify();
      expect([await report(), await deliveryJobs()]).toEqual([
        [
          ['sent', 1],
          ['gone', 1],
        ],
        [],
      ]);
    });
  });
});
