import type { PushAccountId, RelayNotifyAnyAnswer, WrittenPushRequest } from '@waxwing/protocol';
import { beforeEach, describe, expect, it } from 'vitest';
import { GroupedNotifications } from '#server-push/notifications/grouped-notifications.js';
import type { RelayOutcome } from '#server-push/relay-link/relay-answer.js';
import { RelayKind } from '#server-push/relay-link/relay-kind.js';
import { relayDeviceId } from '../../support/ids.js';

type Outcome = RelayOutcome<RelayNotifyAnyAnswer>;

const entry = (device_id: number): WrittenPushRequest => ({
  device_id: relayDeviceId(device_id),
  fcm_priority: 'high',
  payload: { push_account_id: 1n as PushAccountId, encrypted_data: 'AA==' },
});
const idsOf = (requests: readonly WrittenPushRequest[]) => requests.map((request) => request.device_id);
const accept = (requests: readonly WrittenPushRequest[]): Outcome => ({
  kind: 'accepted',
  answer: {
    android_successfully_sent_count: requests.length,
    apple_successfully_sent_count: 0,
    delete_device_ids: [],
    realm_push_status: { can_push: true, expected_end_timestamp: null },
    results: requests.map(({ device_id }) => ({ status: 'sent' as const, reason: `R${device_id}` })),
  } as RelayNotifyAnyAnswer,
});
const retry = (httpStatus: number): Outcome => ({
  kind: 'retry',
  cause: 'relay-error',
  reason: 'the relay failed',
  retryAfterSeconds: undefined,
  httpStatus,
});

describe('notifications in one event-loop tick', () => {
  let kind: RelayKind;
  let asked: unknown[][];
  let react: (requests: readonly WrittenPushRequest[]) => Outcome;
  let grouped: GroupedNotifications;
  beforeEach(() => {
    kind = new RelayKind();
    kind.learn('ours');
    asked = [];
    react = accept;
    const notify = async (requests: readonly WrittenPushRequest[]) => {
      asked.push(idsOf(requests));
      return react(requests);
    };
    grouped = new GroupedNotifications({ kind, notify });
  });
  const send = (...devices: readonly (readonly number[])[]) =>
    Promise.all(devices.map((ids) => grouped.notify(ids.map(entry))));
  const reasons = (outcome: Outcome) =>
    outcome.kind === 'accepted' ? outcome.answer.results?.map(({ reason }) => reason) : outcome;

  it('share one request, and each notification gets the results of its own devices', async () => {
    const outcomes = await send([1, 2], [3], [4, 5, 6]);
    expect(asked).toEqual([[1, 2, 3, 4, 5, 6]]);
    expect(outcomes.map(reasons)).toEqual([['R1', 'R2'], ['R3'], ['R4', 'R5', 'R6']]);
  });

  it('are sent one by one to a relay that is not known to accept several', async () => {
    kind.learn('stock');
    await send([1], [2]);
    expect(asked).toEqual([[1], [2]]);
  });

  it('do not name a device twice in a request', async () => {
    await send([1], [2], [1], [3]);
    expect(asked).toEqual([
      [1, 2],
      [1, 3],
    ]);
  });

  it('name at most 200 devices in a request', async () => {
    await send(...Array.from({ length: 67 }, (_, index) => [3 * index, 3 * index + 1, 3 * index + 2]));
    expect(asked.map(({ length }) => length)).toEqual([198, 3]);
  });

  it.each([
    [
      'refuses the request permanently',
      { kind: 'refused-for-good', code: 'BAD_REQUEST', message: 'no' } as const,
    ],
    ['fails with 500', retry(500)],
  ])(
    'are sent separately if the relay %s, so that only the bad notification fails',
    async (_name, failure) => {
      react = (requests) => (idsOf(requests).includes(2) ? failure : accept(requests));
      const outcomes = await send([1], [2], [3]);
      expect(asked).toEqual([[1, 2, 3], [1], [2], [3]]);
      expect(outcomes.map(reasons)).toEqual([['R1'], failure, ['R3']]);
    },
  );

  it('are all retried later if the relay is overloaded, without further requests', async () => {
    react = () => retry(503);
    expect(await send([1], [2])).toEqual([retry(503), retry(503)]);
    expect(asked).toEqual([[1, 2]]);
  });

  it('are each counted as sent at most once if the relay reports no results', async () => {
    react = (requests) => {
      const outcome = accept(requests) as Extract<Outcome, { kind: 'accepted' }>;
      const { results: _, ...answer } = outcome.answer;
      const counts = { android_successfully_sent_count: 1, apple_successfully_sent_count: 1 };
      return { kind: 'accepted', answer: { ...answer, ...counts, delete_device_ids: [2] } };
    };
    const outcomes = await send([1], [2, 3], [4]);
    const sent = outcomes.map(
      (each) => each.kind === 'accepted' && each.answer.android_successfully_sent_count,
    );
    expect(sent).toEqual([1, 1, 0]);
  });

  it('share one request that their common signal aborts', async () => {
    const signals: (AbortSignal | undefined)[] = [];
    const notify = async (requests: readonly WrittenPushRequest[], signal?: AbortSignal) => {
      signals.push(signal);
      return accept(requests);
    };
    const one = new GroupedNotifications({ kind, notify });
    const closing = new AbortController();
    await Promise.all([one.notify([entry(1)], closing.signal), one.notify([entry(2)], closing.signal)]);
    closing.abort();
    expect(signals.map((signal) => signal?.aborted)).toEqual([true]);
  });
});
