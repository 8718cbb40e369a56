import {
  livenessTimeoutSeconds,
  relayNotifyPath,
  relayReceiptsPath,
  relayRegisterManyPath,
  relayRegisterPath,
  relayRemovePath,
} from '@waxwing/protocol';
import { expect } from 'vitest';
import { request } from '../../packages/service/http/listening-app.js';
import { type Answer, ask, form } from './ask.js';
import { answered, type Door, type Limit, refusals } from './limit.js';
import { receipts, register, registerMany, remove } from './relay-requests.js';
import type { RelayUnderLimits } from './relay-under-limits.js';

type RelayLimit = Limit<RelayUnderLimits>;

const quotaPerMinute = 300;
const badRequest = [400, 'BAD_REQUEST'] as const;
const registered = (status: number) => answered(`POST ${relayRegisterPath}`, status);
const notified = (status: number) => answered(`POST ${relayNotifyPath}`, status);

/** Expects that a request within a limit is accepted. */
async function within(good: Promise<Answer>): Promise<void> {
  expect(await good).toMatchObject({ status: 200 });
}

function quota(id: string, path: string, askOnce: (relay: RelayUnderLimits) => Promise<Answer>): RelayLimit {
  return {
    id,
    metric: answered(path, 503),
    answer: [503, 'RATE_LIMIT_HIT', '1'],
    async provoke(relay, door) {
      await within(remove(relay, 200));
      await within(remove(relay, quotaPerMinute - 200));
      if (path.startsWith('POST')) await expectRefusedByHead(relay, door, path);
      return askOnce(relay);
    },
  };
}

/**
 * Fills the slots with one server's requests while the vendor is slow. Then sends one more request, from the same or
 * another server.
 */
function inFlight(id: string, count: number, { isOfAnother }: { isOfAnother: boolean }): RelayLimit {
  return {
    id,
    metric: notified(503),
    answer: [503, 'SERVICE_UNAVAILABLE', '2'],
    async provoke(relay, door) {
      const device = await relay.device('slow');
      await relay.vendorFaults([{ vendor: 'fcm', latency_ms: 2000 }]);
      const slow = ask(relay.notification(device, count));
      await expect.poll(() => door.metric('waxwing_deliveries_in_flight ')).toBe(count);
      const oneMore = relay.notification(device);
      const [authorization = ''] = isOfAnother ? await relay.addServers(1) : [relay.greedy.authorization];
      const answer = await ask({ ...oneMore, headers: { ...oneMore.headers, authorization } });
      // Not awaited here, because the slow vendor delays these deliveries: `end` waits for them.
      void slow.catch(() => undefined);
      return answer;
    },
    async end(relay, door) {
      await relay.vendorFaults([]);
      await expect.poll(() => door.metric('waxwing_deliveries_in_flight ')).toBe(0);
    },
  };
}

/** Expects that the relay refuses a request while the client is still sending the body. */
async function expectRefusedByHead(relay: RelayUnderLimits, door: Door, path: string): Promise<void> {
  const headers = `authorization: ${relay.greedy.authorization}\r\ncontent-length: 9\r\n`;
  const connection = (await door.connect()).send(request(path, headers, 'half'));
  await expect.poll(() => connection.statuses).toEqual([503]);
  await expect.poll(() => connection.text).toContain('RATE_LIMIT_HIT');
}

const requests: readonly RelayLimit[] = [
  {
    id: 'relay-requests-per-server',
    metric: refusals('actor-requests'),
    answer: [503, 'RATE_LIMIT_HIT', '1'],
    async provoke(relay, door) {
      const headers = `authorization: ${relay.greedy.authorization}\r\ncontent-length: 9\r\n`;
      await door.hold(5, request(`POST ${relayNotifyPath}`, headers, 'half'));
      return receipts(relay, 1);
    },
  },
  quota('relay-quota-register', `POST ${relayRegisterPath}`, (relay) => register(relay, {})),
  quota('relay-quota-register-many', `POST ${relayRegisterManyPath}`, (relay) => registerMany(relay, 1)),
  quota('relay-quota-notify', `POST ${relayNotifyPath}`, (relay) => ask(relay.notification(1))),
  quota('relay-quota-remove', `POST ${relayRemovePath}`, (relay) => remove(relay, 0)),
  quota('relay-quota-receipts', `GET ${relayReceiptsPath}`, (relay) => receipts(relay, 1)),
  inFlight('relay-notifications-in-flight', 8, { isOfAnother: true }),
  inFlight('relay-notifications-of-server', 4, { isOfAnother: false }),
  {
    id: 'relay-notifications-queued',
    metric: notified(503),
    answer: [503, 'SERVICE_UNAVAILABLE', '60'],
    async provoke(relay) {
      const device = await relay.device('waiting');
      await relay.vendorFaults([{ vendor: 'fcm', status: 503 }]);
      await within(ask(relay.notification(device, 3, { ttl_seconds: 3600 })));
      return ask(relay.notification(device));
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
];

/** Limits on the content of a request. They do not depend on the database. */
export const relaySizeLimits: readonly RelayLimit[] = [
  {
    id: 'relay-register-bytes',
    metric: registered(413),
    answer: [413, 'PAYLOAD_TOO_LARGE'],
    provoke: (relay) => register(relay, {}, { padding: 'x'.repeat(128 * 1024) }),
  },
  {
    id: 'relay-register-many-bytes',
    metric: answered(`POST ${relayRegisterManyPath}`, 413),
    answer: [413, 'PAYLOAD_TOO_LARGE'],
    provoke: (relay) => registerMany(relay, 1, 'x'.repeat(1024 * 1024)),
  },
  {
    id: 'relay-registrations-at-once',
    metric: answered(`POST ${relayRegisterManyPath}`, 400),
    answer: badRequest,
    async provoke(relay) {
      await within(registerMany(relay, 100));
      return registerMany(relay, 101);
    },
  },
  {
    id: 'relay-notify-bytes',
    metric: notified(413),
    answer: [413, 'PAYLOAD_TOO_LARGE'],
    provoke: (relay) => ask({ ...relay.notification(1), body: `"${'x'.repeat(1024 * 1024)}"` }),
  },
  {
    id: 'relay-registration-characters',
    metric: registered(400),
    answer: badRequest,
    provoke: (relay) => register(relay, {}, { encrypted_push_registration: 'A'.repeat(72_004) }),
  },
  {
    id: 'relay-token-code-points',
    metric: registered(400),
    answer: badRequest,
    async provoke(relay) {
      await within(register(relay, { token: '\u{1f426}'.repeat(4096) }));
      return register(relay, { token: '\u{1f426}'.repeat(4097) });
    },
  },
  {
    id: 'relay-ios-app-id-characters',
    metric: registered(400),
    answer: badRequest,
    async provoke(relay) {
      const apns = { token_kind: 'apns', token: 'ab'.repeat(32) };
      await within(register(relay, { ...apns, ios_app_id: 'a'.repeat(255) }));
      return register(relay, { ...apns, ios_app_id: 'a'.repeat(256) });
    },
  },
  {
    id: 'relay-removed-devices',
    metric: answered(`POST ${relayRemovePath}`, 400),
    answer: badRequest,
    async provoke(relay) {
      await within(remove(relay, 200));
      return remove(relay, 201);
    },
  },
  {
    id: 'relay-receipt-ids',
    metric: answered(`GET ${relayReceiptsPath}`, 400),
    answer: badRequest,
    async provoke(relay) {
      await within(receipts(relay, 200));
      return receipts(relay, 201);
    },
  },
  {
    id: 'relay-time-to-live',
    metric: notified(400),
    answer: badRequest,
    async provoke(relay) {
      await within(ask(relay.notification(1, 1, { ttl_seconds: 2_419_200 })));
      return ask(relay.notification(1, 1, { ttl_seconds: 2_419_201 }));
    },
  },
  {
    id: 'relay-collapse-id',
    metric: notified(400),
    answer: badRequest,
    async provoke(relay) {
      await within(ask(relay.notification(1, 1, { collapse_id: 'x'.repeat(64) })));
      return ask(relay.notification(1, 1, { collapse_id: 'x'.repeat(65) }));
    },
  },
  {
    id: 'relay-vendor-payload-bytes',
    metric: 'waxwing_deliveries_total{vendor="fcm",outcome="rejected",reason="PAYLOAD_TOO_LARGE"}',
    answer: [200],
    async provoke(relay) {
      const device = await relay.device('narrow');
      const payload = { push_account_id: 7, encrypted_data: Buffer.alloc(3072, 7).toString('base64') };
      const answer = await ask(relay.notification(device, 1, { payload }));
      expect(answer.body?.results).toMatchObject([{ reason: 'PAYLOAD_TOO_LARGE', fault: 'server' }]);
      return answer;
    },
  },
];

const registrations: readonly RelayLimit[] = [
  {
    id: 'relay-registration-age',
    metric: registered(400),
    answer: [400, 'REQUEST_EXPIRED'],
    async provoke(relay) {
      const oldest = Math.floor(relay.now / 1000) - livenessTimeoutSeconds;
      await within(register(relay, { timestamp: oldest }));
      return register(relay, { timestamp: oldest - 1 });
    },
  },
  {
    id: 'relay-registration-future',
    metric: registered(400),
    answer: badRequest,
    async provoke(relay) {
      const newest = Math.floor(relay.now / 1000) + livenessTimeoutSeconds;
      await within(register(relay, { timestamp: newest }));
      return register(relay, { timestamp: newest + 1 });
    },
  },
  {
    id: 'relay-registration-accounts',
    metric: registered(400),
    answer: badRequest,
    async provoke(relay) {
      const fields = relay.registration({ token: 'shared' });
      const present = (push_account_id: string) =>
        ask(form(relay.url + relayRegisterPath, relay.greedy.authorization, { ...fields, push_account_id }));
      for (let account = 1; account <= 10; account++) await within(present(String(account)));
      return present('11');
    },
  },
  {
    id: 'relay-registration-realms',
    metric: registered(400),
    answer: badRequest,
    async provoke(relay) {
      const fields = relay.registration({ token: 'carried' });
      const present = (realm_uuid: string) =>
        ask(form(relay.url + relayRegisterPath, relay.greedy.authorization, { ...fields, realm_uuid }));
      await within(present(relay.greedy.realmUuid));
      return present(relay.otherRealmUuid);
    },
  },
  {
    id: 'relay-registration-sequence',
    metric: registered(400),
    answer: [400, 'REQUEST_EXPIRED'],
    async provoke(relay) {
      const numbered = (sequence: number) =>
        register(relay, { token: 'numbered', sequence }, { push_account_id: '8' });
      await within(numbered(relay.now));
      return numbered(relay.now - 1);
    },
  },
];

/** Limits on a server's requests to the relay, each with the response beyond the limit. */
export const relayLimits: readonly RelayLimit[] = [...requests, ...registrations];
