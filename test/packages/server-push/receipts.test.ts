import { randomUUID } from 'node:crypto';
import { readRelayLinkStatus, readReport } from '@waxwing/server-push';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { userId as user } from '../../support/ids.js';
import { PushServer } from '../../support/push-server.js';
import type { RelayReaction } from '../../support/relay-stand-in.js';
import { eachBackend } from '../../support/test-databases.js';

const ada = user(7);
const content = { type: 'test', time: 1 } as const;
const path = '/api/v1/remotes/push/e2ee/receipts';

interface Receipt {
  readonly status: string;
  readonly reason?: string;
  readonly fault?: string;
}

eachBackend((backend) => {
  let server: PushServer;
  /** The relay's receipts for queued notifications. */
  let receipts: Map<string, Receipt>;
  /** Ids in each request for receipts. */
  let asked: string[][];
  let isKnown: boolean;

  beforeEach(async () => {
    server = await PushServer.start(backend);
    for (const token of ['one', 'two', 'three']) await server.activeDevice(ada, token);
    receipts = new Map();
    asked = [];
    isKnown = true;
    server.relay.around = (request, otherwise) => {
      if (request.path.startsWith(`${path}?`)) return findReceipts(request.path);
      if (!request.path.endsWith('/notify')) return otherwise();
      const { push_requests: requests } = JSON.parse(request.body) as { push_requests: object[] };
      return accepted({ results: requests.map(queue) });
    };
  });
  afterEach(() => server.close());

  const accepted = (fields: object): RelayReaction => ({
    status: 200,
    body: {
      result: 'success',
      msg: '',
      realm_push_status: null,
      delete_token_ids: [],
      android_successfully_sent_count: 0,
      apple_successfully_sent_count: 0,
      ...fields,
    },
  });

  function queue(): object {
    const id = randomUUID();
    receipts.set(id, { status: 'queued', reason: 'UNAVAILABLE' });
    return { status: 'queued', reason: 'UNAVAILABLE', notification_id: id };
  }

  function findReceipts(asking: string): RelayReaction {
    const ids = asking.slice(`${path}?ids=`.length).split(',');
    asked.push(ids);
    if (!isKnown) return { status: 404 };
    const found = ids.flatMap((id) => {
      const receipt = receipts.get(id);
      if (receipt === undefined) return [];
      return [{ notification_id: id, device_id: 1, attempts: 1, updated_at: 1, ...receipt }];
    });
    return accepted({ receipts: found });
  }

  const notify = async (reportId?: string) => {
    await server.push.notify([ada], { content, giveUpAt: server.now + 3_600_000, reportId });
    await server.settle();
  };
  const jobs = () => server.database.jobs.list({ kind: 'notifications/read-receipts' });
  const rejected = { status: 'rejected', reason: 'SENDER_ID_MISMATCH', fault: 'relay-configuration' };

  it('a rejected notification appears in the report, the log, the metrics and the status', async () => {
    await notify('a report');
    expect(await readReport(server.database.db, 'a report')).toMatchObject([
      { status: 'queued', devices: 3 },
    ]);
    const [first = '', second = ''] = receipts.keys();
    receipts.set(first, { status: 'sent' }).set(second, rejected);
    await server.pass(5000);
    expect(await readReport(server.database.db, 'a report')).toMatchObject([
      { status: 'queued', devices: 1 },
      { status: 'sent', devices: 1 },
      { ...rejected, devices: 1 },
    ]);
    const labels = 'status="rejected",fault="relay-configuration",reason="SENDER_ID_MISMATCH"';
    expect(await server.metrics.text()).toContain(`waxwing_notification_results_total{${labels}} 1`);
    expect(server.log.lines()).toContainEqual(
      expect.objectContaining({ msg: 'a notification was rejected', reason: 'SENDER_ID_MISMATCH' }),
    );
    const { lastRejection } = await readRelayLinkStatus(server.database.db);
    expect(lastRejection?.reason).toContain('SENDER_ID_MISMATCH');
  });

  it('a receipt is also read after a restart of the server', async () => {
    await notify('a report');
    await server.stop();
    for (const id of receipts.keys()) receipts.set(id, rejected);
    await server.boot();
    await server.pass(5000);
    expect(await readReport(server.database.db, 'a report')).toMatchObject(
      Array(3).fill({ ...rejected, devices: 1 }),
    );
    expect(await jobs()).toEqual([]);
  });

  it('many notifications share requests for at most 200 receipts', async () => {
    for (let count = 0; count < 80; count += 1) {
      await server.push.notify([ada], { content, giveUpAt: server.now + 3_600_000 });
    }
    await server.settle();
    asked = [];
    await server.pass(3_600_000);
    expect(asked.flat()).toHaveLength(240);
    expect(Math.max(...asked.map(({ length }) => length))).toBeLessThanOrEqual(200);
    expect(asked.length).toBeLessThan(50);
  });

  it('a receipt is requested at growing intervals', async () => {
    await notify();
    const waits: number[] = [];
    for (let count = 0; count < 14; count += 1) {
      const [job] = await jobs();
      const wait = (job?.at ?? 0) - server.now;
      waits.push(wait);
      await server.pass(wait);
    }
    expect(waits[0]).toBe(1000);
    expect(waits.slice(1)).toEqual(waits.slice(1).toSorted((one, other) => one - other));
    expect(waits.at(-1)).toBeGreaterThanOrEqual(15 * 60_000);
  });

  it('no receipt is requested for an unknown notification, or from a relay without receipts', async () => {
    await notify();
    receipts.clear();
    await server.pass(5000);
    expect([asked.flat().length, await jobs()]).toEqual([3, []]);
    await notify();
    isKnown = false;
    await server.pass(5000);
    expect([asked.flat().length, await jobs()]).toEqual([6, []]);
  });

  it('requests for a receipt end after a day and a half, without a dead job', async () => {
    await notify();
    await server.pass(37 * 3_600_000);
    expect(await jobs()).toEqual([]);
    expect(await server.database.jobs.list({ state: 'dead' })).toEqual([]);
  });

  it('no receipt is requested from a relay that queued nothing', async () => {
    const { around } = server.relay;
    server.relay.around = (request, otherwise) =>
      request.path.endsWith('/notify')
        ? accepted({ android_successfully_sent_count: 1 })
        : (around?.(request, otherwise) ?? otherwise());
    await notify();
    await server.pass(5000);
    expect([asked, await jobs()]).toEqual([[], []]);
  });
});
