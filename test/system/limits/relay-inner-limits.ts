import { randomUUID } from 'node:crypto';
import { relayReceiptsPath, relayRegisterPath } from '@waxwing/protocol';
import { expect } from 'vitest';
import { TalkativeGoogle } from '../../apps/relay/deliveries/talkative-google.js';
import { type Answer, ask, form, question } from './ask.js';
import { askInCrowd } from './ask-in-crowd.js';
import { HoldingGoogle } from './holding-google.js';
import { answered, type Door, type Limit } from './limit.js';
import type { RelayUnderLimits } from './relay-under-limits.js';

type RelayLimit = Limit<RelayUnderLimits>;

/** Stand-in for Google that delays notifications while a limit is provoked, and the request that sends most of them. */
let holding: HoldingGoogle | undefined;
let crowd: Promise<Answer> | undefined;

const day = 86_400_000;
const rowsRemoved = (kind: string): string => `waxwing_rows_removed_total{kind="${kind}"}`;
const openBreakers = 'waxwing_app_breaker_open{';

/** Advances the clock, and waits until the relay has removed rows of this kind. */
async function removedAfter(relay: RelayUnderLimits, door: Door, kind: string, milliseconds: number) {
  const before = await door.metric(rowsRemoved(kind));
  relay.pass(milliseconds);
  await expect.poll(() => door.metric(rowsRemoved(kind))).toBeGreaterThan(before);
}

/** Notifies this many phones of different accounts, one after another. Resolves to the last response. */
async function notifyMany(relay: RelayUnderLimits, name: string, count: number): Promise<Answer> {
  let last: Answer = { status: 0 };
  for (let index = 1; index <= count; index++) {
    const account = `${1000 + index}`;
    const device = await relay.device(`${name}-${index}`, account);
    last = await ask(relay.notification(device, 1, payloadFor(Number(account))));
  }
  return last;
}

/** The notification payload for this account's phone. */
function payloadFor(push_account_id: number): object {
  return { payload: { push_account_id, encrypted_data: Buffer.alloc(700, 7).toString('base64') } };
}

/** The form fields that register a new account with this sequence number. */
function numbered(relay: RelayUnderLimits, sequence: number): Readonly<Record<string, string>> {
  const sealed = { token: 'numbered', audience: relay.greedy.realmUuid, push_account_id: '31', sequence };
  return { ...relay.registration(sealed), push_account_id: '31' };
}

/** Limits on the data that the relay stores or keeps in memory, and on how long it keeps the data. */
export const relayInnerLimits: readonly RelayLimit[] = [
  {
    id: 'relay-request-budget',
    metric: 'waxwing_deliveries_queued ',
    answer: [200],
    async provoke(relay) {
      const device = await relay.device('slow');
      await relay.vendorFaults([{ vendor: 'fcm', latency_ms: 9500 }]);
      const answer = await ask(relay.notification(device, 1, { ttl_seconds: 3600 }));
      expect(answer.body?.results).toMatchObject([{ status: 'queued' }]);
      return answer;
    },
    async end(relay, door) {
      await relay.vendorFaults([]);
      const later = () => {
        relay.pass();
        return door.metric('waxwing_deliveries_queued ');
      };
      await expect.poll(later).toBe(0);
    },
  },
  {
    id: 'relay-receipts',
    metric: rowsRemoved('receipt'),
    answer: [200],
    async provoke(relay, door) {
      const device = await relay.device('received');
      const answer = await ask(relay.notification(device));
      expect(answer.body?.results).toMatchObject([{ status: 'sent' }]);
      await removedAfter(relay, door, 'receipt', day + 600_000);
      return answer;
    },
  },
  {
    id: 'relay-expired-devices',
    metric: rowsRemoved('expired-relay-device'),
    answer: [200],
    async provoke(relay, door) {
      const device = await relay.device('dead');
      await relay.vendorFaults([{ vendor: 'fcm', token: 'dead', reason: 'UNREGISTERED' }]);
      const answer = await ask(relay.notification(device));
      expect(answer.body?.results).toMatchObject([{ status: 'gone' }]);
      await removedAfter(relay, door, 'expired-relay-device', 30 * day + 3_600_000);
      return answer;
    },
    end: (relay) => relay.vendorFaults([]),
  },
  {
    id: 'relay-sequences',
    metric: rowsRemoved('registration-sequence'),
    answer: [200],
    async provoke(relay, door) {
      const register = (sequence: number) =>
        ask(form(relay.url + relayRegisterPath, relay.greedy.authorization, numbered(relay, sequence)));
      const latest = relay.now;
      expect(await register(latest)).toMatchObject({ status: 200 });
      expect((await register(latest - 1)).body?.code).toBe('REQUEST_EXPIRED');
      await relay.ageSequences(400 * day);
      await removedAfter(relay, door, 'registration-sequence', day + 3_600_000);
      return register(latest - 1);
    },
  },
  {
    id: 'relay-vendor-answers',
    answer: [200],
    async provoke(relay) {
      const device = await relay.device('talkative');
      const google = await TalkativeGoogle.start();
      try {
        google.messages.more = Number.POSITIVE_INFINITY;
        await relay.askGoogleAt(google.url);
        const answer = await ask(relay.notification(device));
        expect(answer.body?.results).toMatchObject([{ status: 'rejected', reason: 'UNKNOWN' }]);
        return answer;
      } finally {
        await google.close();
      }
    },
    end: (relay) => relay.askGoogleAt(),
  },
  {
    id: 'relay-fcm-requests',
    answer: [200],
    async provoke(relay) {
      const device = await relay.device('waits');
      const google = await HoldingGoogle.start();
      holding = google;
      await relay.askGoogleAt(google.url, 600);
      crowd = ask(relay.notification(device, 256));
      await expect.poll(() => google.held).toHaveLength(256);
      const oneMore = ask(relay.notification(device));
      await expect.poll(() => relay.metricsText()).toContain('waxwing_deliveries_in_flight 257\n');
      google.accept(google.held.shift());
      await expect.poll(() => google.held).toHaveLength(256);
      google.accept(google.held.pop());
      const answer = await oneMore;
      expect(answer.body?.results).toMatchObject([{ status: 'sent' }]);
      expect(google.mostAtOnce).toBe(256);
      return answer;
    },
    async end(relay) {
      await holding?.close();
      expect(await crowd).toMatchObject({ status: 200 });
      await relay.askGoogleAt();
    },
  },
  {
    id: 'relay-suspected-credential',
    metric: openBreakers,
    answer: [200],
    async provoke(relay) {
      // Accounts that no other limit uses. Registering an account again would need a higher sequence number.
      const accounts = [21, 22, 23] as const;
      const devices: number[] = [];
      for (const account of accounts) devices.push(await relay.device(`refused-${account}`, `${account}`));
      await relay.vendorFaults([{ vendor: 'fcm', reason: 'THIRD_PARTY_AUTH_ERROR' }]);
      const notify = (index: number) => {
        const wishes = { ...payloadFor(accounts[index] ?? 0), ttl_seconds: 5 };
        return ask(relay.notification(devices[index] ?? 0, 1, wishes));
      };
      for (const index of accounts.keys()) await notify(index);
      const answer = await notify(0);
      expect(answer.body?.results).toMatchObject([{ reason: 'EXPIRED_THIRD_PARTY_AUTH_ERROR' }]);
      return answer;
    },
    async end(relay, door) {
      await relay.vendorFaults([]);
      const device = await relay.device('reached', '10');
      const later = async () => {
        relay.pass();
        await ask(relay.notification(device, 1, payloadFor(10)));
        return door.metric(openBreakers);
      };
      await expect.poll(later).toBe(0);
    },
  },
  {
    id: 'relay-frozen-deletions',
    metric: openBreakers,
    answer: [200],
    async provoke(relay) {
      await relay.vendorFaults([{ vendor: 'fcm', reason: 'UNREGISTERED' }]);
      return notifyMany(relay, 'frozen', 22);
    },
    async end(relay, door) {
      const device = await relay.device('frozen-1', '1001');
      // One dead phone in an hour is normal. Its report makes the relay review the freeze.
      const later = async () => {
        relay.pass(3_600_000);
        await ask(relay.notification(device, 1, payloadFor(1001)));
        return door.metric(openBreakers);
      };
      await expect.poll(later).toBe(0);
      await relay.vendorFaults([]);
    },
  },
];

/** Limits on the number of clients that a process remembers in memory. They do not depend on the database. */
export const relayMemoryLimits: readonly RelayLimit[] = [
  {
    id: 'relay-lookups',
    metric: answered(`GET ${relayReceiptsPath}`, 401),
    answer: [401, 'UNAUTHORIZED'],
    async provoke(relay, door) {
      const path = `${relayReceiptsPath}?ids=${randomUUID()}`;
      const look = () => ask(question(relay.url + path, relay.greedy.authorization));
      const others = await relay.addServers(10_000);
      expect(await look()).toMatchObject({ status: 200 });
      await relay.setGreedyKey(false);
      const requests = others.map((one) => ({ path, headers: `authorization: ${one}\r\n` }));
      await askInCrowd(door, requests.slice(1), 200);
      // The relay still remembers the key. One more entry would evict it.
      expect(await look()).toMatchObject({ status: 200 });
      await askInCrowd(door, requests.slice(0, 1), 200);
      return look();
    },
    end: (relay) => relay.setGreedyKey(true),
  },
];
