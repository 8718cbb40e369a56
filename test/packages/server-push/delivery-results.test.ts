import { readRelayLinkStatus, readReport } from '@waxwing/server-push';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { userId as user } from '../../support/ids.js';
import { PushServer, tokenIdOf } from '../../support/push-server.js';
import type { RelayReaction } from '../../support/relay-stand-in.js';
import { eachBackend } from '../../support/test-databases.js';

const ada = user(7);
const content = { type: 'test', time: 1 } as const;

interface Asked {
  readonly push_requests: readonly { readonly token_id: string }[];
}

eachBackend((backend) => {
  let server: PushServer;
  beforeEach(async () => {
    server = await PushServer.start(backend);
    for (const token of ['one', 'two', 'three']) await server.activeDevice(ada, token);
  });
  afterEach(() => server.close());

  /** Makes the relay's reaction to a notify request depend on its token ids. */
  function relayReacts(react: (tokenIds: readonly string[]) => RelayReaction): void {
    server.relay.around = ({ path, body }, otherwise) => {
      if (!path.endsWith('/notify')) return otherwise();
      return react((JSON.parse(body) as Asked).push_requests.map(({ token_id: id }) => id));
    };
  }
  const accepted = (results?: readonly object[], sent = 1, dead: readonly string[] = []): RelayReaction => ({
    status: 200,
    body: {
      result: 'success',
      msg: '',
      realm_push_status: null,
      delete_token_ids: dead,
      android_successfully_sent_count: sent,
      apple_successfully_sent_count: 0,
      ...(results && { results }),
    },
  });
  const notify = async (reportId?: string) => {
    await server.push.notify([ada], { content, giveUpAt: server.now + 3_600_000, reportId });
    await server.settle();
  };

  it('devices that the relay no longer knows are logged once, and then only counted', async () => {
    relayReacts((ids) => accepted(undefined, 0, ids));
    await notify();
    await server.stop();
    await server.boot();
    const dropped = server.log.lines().filter(({ msg }) => String(msg).startsWith('dropped '));
    expect(dropped).toMatchObject([
      { level: 'info', msg: 'dropped a device that the relay does not know', device: expect.any(Object) },
      { level: 'info', msg: 'dropped more devices that the relay does not know', count: 2 },
    ]);
  });

  const disallowed = {
    status: 400,
    body: { result: 'error', code: 'PUSH_NOTIFICATIONS_DISALLOWED', msg: 'no' },
  };
  const isOff = { can_push: false, expected_end_timestamp: null };
  it.each([
    ['refuses the notification because push is off', () => disallowed, 3],
    [
      'switches push off after the first device',
      () => {
        const { body, ...answer } = accepted() as Exclude<RelayReaction, string>;
        return { ...answer, body: { ...Object(body), realm_push_status: isOff } };
      },
      2,
    ],
  ] as const)('a notification is dropped and reported if the relay %s', async (_, react, dropped) => {
    relayReacts(react);
    await notify('a report');
    const jobs = await server.database.jobs.list({ kind: 'notifications/deliver-notification' });
    const report = await readReport(server.database.db, 'a report');
    const rejected = { status: 'rejected', reason: 'PUSH_NOTIFICATIONS_DISALLOWED', devices: dropped };
    expect([jobs, report.at(-1)]).toEqual([[], expect.objectContaining(rejected)]);
    expect(report.reduce((sum, { devices }) => sum + devices, 0)).toBe(3);
  });

  describe('a notification that the relay accepts for only some devices', () => {
    it('is retried only for the other devices, even after a restart', async () => {
      const taken: string[] = [];
      let isFailing = true;
      relayReacts(([id = '']) => {
        if (isFailing && id === tokenIdOf('two')) return { status: 500 };
        taken.push(id);
        return accepted();
      });
      await notify('a report');
      expect(taken).toEqual([tokenIdOf('one'), tokenIdOf('three')]);
      await server.stop();
      await server.boot();
      await server.pass(60_000);
      isFailing = false;
      await server.pass(600_000);
      expect(taken).toEqual([tokenIdOf('one'), tokenIdOf('three'), tokenIdOf('two')]);
      expect(await readReport(server.database.db, 'a report')).toMatchObject([
        { status: 'sent', devices: 2 },
        { status: 'sent', devices: 1 },
      ]);
    });

    it('is dropped for a device that the relay refuses, and not sent while the relay is down', async () => {
      const asked: string[] = [];
      relayReacts(([id = '']) => {
        asked.push(id);
        if (id === tokenIdOf('one'))
          return { status: 400, body: { result: 'error', code: 'BAD_REQUEST', msg: 'no' } };
        return { status: 503 };
      });
      await notify();
      expect(asked).toEqual([tokenIdOf('one'), tokenIdOf('two')]);
      relayReacts(([id = '']) =>
        id === tokenIdOf('one')
          ? { status: 400, body: { result: 'error', code: 'BAD_REQUEST', msg: 'no' } }
          : accepted(),
      );
      await server.pass(60_000);
      const [dead, ...others] = await server.database.jobs.list({ state: 'dead' });
      expect([dead, others]).toMatchObject([{ reason: 'the relay refused it: BAD_REQUEST no' }, []]);
    });
  });

  describe('the error text that the relay sends for a device', () => {
    it('is counted, and logged once per cause and minute, however many reasons the relay sends', async () => {
      let reasons = 0;
      relayReacts((ids) =>
        accepted(
          ids.map(() => {
            reasons += 1;
            return { status: 'rejected', fault: 'vendor', reason: `Reason${reasons}`, app: 'bad\napp' };
          }),
        ),
      );
      for (let count = 0; count < 60; count += 1) await notify();
      const metrics = (await server.metrics.text()).split('\n');
      const results = metrics.filter((line) => line.startsWith('waxwing_notification_results_total{'));
      expect(results).toHaveLength(101);
      expect(results.at(-1)).toBe(
        `waxwing_notification_results_total{status="rejected",fault="vendor",reason="other"} ${reasons - 100}`,
      );
      const logged = server.log.lines().filter(({ msg }) => msg === 'a notification was rejected');
      expect(logged).toHaveLength(101);
      expect(server.log.text()).not.toContain('bad');
    });

    it('is replaced with OTHER if it is a free text, and the newest is stored for the admin', async () => {
      relayReacts((ids) =>
        accepted(ids.map(() => ({ status: 'rejected', fault: 'relay', reason: 'a text\nof two lines' }))),
      );
      await notify('texts');
      expect(await readReport(server.database.db, 'texts')).toMatchObject([
        { status: 'rejected', fault: 'relay', reason: 'OTHER', devices: 3 },
      ]);
      expect((await readRelayLinkStatus(server.database.db)).lastRejection).toEqual({
        at: server.now,
        reason: "OTHER (ask the relay's operator)",
      });
      await server.pass(2 * 3_600_000);
      expect(await readReport(server.database.db, 'texts')).toEqual([]);
    });

    it('is missing from a stock relay, which reports only the number of sent notifications', async () => {
      relayReacts(([id]) => accepted(undefined, id === tokenIdOf('two') ? 0 : 1));
      await notify('numbers');
      expect(await readReport(server.database.db, 'numbers')).toMatchObject([
        { status: 'sent', devices: 2 },
        { status: 'rejected', reason: 'NO_REASON_GIVEN', devices: 1 },
      ]);
    });
  });
});
