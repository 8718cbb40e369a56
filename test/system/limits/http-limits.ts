import { keyListPath, relayNotifyPath, relayReceiptsPath, relayRemovePath } from '@waxwing/protocol';
import { AddressRanges, type HttpLimits } from '@waxwing/service/http-settings';
import { expect } from 'vitest';
import { type RawConnection, request } from '../../packages/service/http/listening-app.js';
import { type Answer, ask, form, question } from './ask.js';
import { answered, type Door, type Limit, refusals } from './limit.js';
import type { RelayUnderLimits } from './relay-under-limits.js';

/** A limit that every listener has. If its default is hard to reach, includes smaller settings. */
export interface HttpLimit extends Limit<RelayUnderLimits> {
  readonly http?: Partial<HttpLimits>;
}

const full = [503, 'SERVICE_UNAVAILABLE', '1'] as const;
const removals = (status: number) => answered(`POST ${relayRemovePath}`, status);
const greedyAddress = '127.0.0.3';

/** The head of a notify request from the greedy server, and part of its body. */
function half(relay: RelayUnderLimits, bodyBytes = 9, headers = ''): string {
  const authorization = `authorization: ${relay.greedy.authorization}\r\n`;
  return request(
    `POST ${relayNotifyPath}`,
    `${authorization}${headers}content-length: ${bodyBytes}\r\n`,
    'half',
  );
}

function keyList(relay: RelayUnderLimits, more: object = {}): Promise<Answer> {
  return ask({ url: relay.url + keyListPath, localAddress: greedyAddress, ...more });
}

/**
 * Sends `text` on a new connection and then nothing more. Resolves to the last status received before the connection is
 * closed.
 */
async function fallSilent(door: Door, text: string): Promise<Answer> {
  const connection = (await door.connect(greedyAddress)).send(text);
  await connection.closed;
  return { status: connection.statuses.at(-1) ?? 0 };
}

const numbers: readonly HttpLimit[] = [
  {
    id: 'connections',
    http: { maximumConnections: 4 },
    metric: refusals('connections'),
    answer: full,
    spares: 'health',
    async provoke(relay, door) {
      await door.hold(4, half(relay), greedyAddress);
      return keyList(relay);
    },
  },
  {
    id: 'idle-connections',
    http: { maximumConnections: 4 },
    metric: refusals('connections'),
    answer: [200],
    async provoke(relay, door) {
      const [first] = [
        await door.connect(),
        await door.connect(),
        await door.connect(),
        await door.connect(),
      ];
      await expect.poll(async () => (await door.counts()).connections).toBe(4);
      const answer = await keyList(relay);
      await first?.closed;
      return answer;
    },
  },
  {
    id: 'surplus-connections',
    http: { maximumConnections: 2 },
    metric: refusals('connections'),
    answer: [200],
    spares: 'health',
    async provoke(relay, door) {
      await door.hold(2, half(relay), greedyAddress);
      const silent: RawConnection[] = [];
      for (let count = 0; count <= 100; count++) silent.push(await door.connect(greedyAddress));
      await silent[0]?.closed;
      const { status } = await ask({ url: `${relay.url}/health/live` });
      return { status };
    },
  },
  {
    id: 'connections-per-address',
    http: { maximumConnectionsPerAddress: 4, trustedProxies: new AddressRanges(['203.0.113.1']) },
    metric: refusals('address'),
    answer: full,
    async provoke(relay, door) {
      for (let count = 0; count < 4; count++) await door.connect(greedyAddress);
      return keyList(relay);
    },
  },
  {
    id: 'forwarded-requests-per-address',
    http: { maximumConnectionsPerAddress: 4, trustedProxies: new AddressRanges([greedyAddress]) },
    metric: refusals('address'),
    answer: full,
    async provoke(relay, door) {
      await door.hold(4, half(relay, 9, 'x-forwarded-for: 2001:db8:1:2::3\r\n'), greedyAddress);
      return keyList(relay, { headers: { 'x-forwarded-for': '2001:db8:1:2:ffff::4' } });
    },
  },
  {
    id: 'requests-in-flight',
    http: { maximumRequestsInFlight: 3 },
    metric: refusals('requests'),
    answer: full,
    spares: 'health',
    async provoke(relay, door) {
      await door.hold(3, half(relay), greedyAddress);
      return keyList(relay);
    },
  },
  {
    id: 'body-bytes-in-flight',
    http: { maximumBodyBytesInFlight: 4000 },
    metric: refusals('body-bytes'),
    answer: full,
    spares: 'who-sends-no-body',
    async provoke(relay, door) {
      // Accepted, because a single body is accepted regardless of its size.
      await door.hold(1, half(relay, 3990), greedyAddress);
      const [registration] = relay.honest();
      return ask(registration ?? { url: relay.url });
    },
  },
  {
    id: 'body-bytes-per-actor',
    http: { maximumBodyBytesInFlight: 40_000 },
    metric: refusals('actor-body-bytes'),
    answer: [503, 'RATE_LIMIT_HIT', '1'],
    async provoke(relay, door) {
      await door.hold(1, half(relay, 9990), greedyAddress);
      const fields = { realm_uuid: relay.greedy.realmUuid, device_ids: '[]' };
      return ask(form(relay.url + relayRemovePath, relay.greedy.authorization, fields));
    },
  },
  {
    id: 'pipelined-requests',
    metric: refusals('pipelining'),
    answer: [0],
    async provoke(relay, door) {
      const connection = await door.connect(greedyAddress);
      connection.send(half(relay));
      await expect.poll(async () => (await door.counts()).requests).toBe(1);
      // Sends the last bytes of the body, then more pipelined requests than allowed.
      connection.send(`12345${request(`GET ${keyListPath}`).repeat(1000)}`);
      await connection.closed;
      return { status: 0 };
    },
  },
];

const times: readonly HttpLimit[] = [
  {
    id: 'head-seconds',
    http: { headTimeoutMilliseconds: 300 },
    metric: refusals('timeout'),
    answer: [408],
    provoke: (_relay, door) => fallSilent(door, `GET ${keyListPath} HTTP/1.1\r\nhost`),
  },
  {
    id: 'request-seconds',
    http: { headTimeoutMilliseconds: 300, requestTimeoutMilliseconds: 300 },
    metric: refusals('timeout'),
    answer: [408],
    provoke: (relay, door) => fallSilent(door, half(relay)),
  },
  {
    id: 'idle-seconds',
    http: { idleTimeoutMilliseconds: 300 },
    answer: [200],
    provoke: (_relay, door) => fallSilent(door, request('GET /health/live')),
  },
  {
    id: 'unread-body-seconds',
    http: { unreadBodyTimeoutMilliseconds: 300 },
    metric: refusals('timeout'),
    answer: [401],
    provoke: (_relay, door) =>
      fallSilent(door, request(`POST ${relayNotifyPath}`, 'content-length: 9\r\n', 'half')),
  },
  {
    id: 'answer-seconds',
    http: { answerTimeoutMilliseconds: 300 },
    metric: refusals('timeout'),
    answer: [0],
    async provoke(relay, door) {
      const connection = await door.connect(greedyAddress);
      connection.socket.pause();
      // Responses list unknown parameters, so each response is as long as its request.
      const fields = { realm_uuid: relay.greedy.realmUuid, device_ids: '[]' };
      const body = new URLSearchParams({ ...fields, ['x'.repeat(60_000)]: '' }).toString();
      const headers = `authorization: ${relay.greedy.authorization}\r\ncontent-type: application/x-www-form-urlencoded\r\ncontent-length: ${body.length}\r\n`;
      connection.send(request(`POST ${relayRemovePath}`, headers, body).repeat(100));
      await expect.poll(() => door.metric(refusals('timeout'))).toBeGreaterThan(0);
      return { status: 0 };
    },
  },
];

const sizes: readonly HttpLimit[] = [
  {
    id: 'body-bytes',
    metric: removals(413),
    answer: [413, 'PAYLOAD_TOO_LARGE'],
    provoke: (relay) =>
      ask(form(relay.url + relayRemovePath, relay.greedy.authorization, { padding: 'x'.repeat(64 * 1024) })),
  },
  {
    id: 'multipart-parts',
    metric: removals(400),
    answer: [400, 'BAD_REQUEST'],
    provoke: (relay) =>
      multipart(
        relay,
        Array.from({ length: 201 }, (_, index) => `name-${index}`),
      ),
  },
  {
    id: 'multipart-name-bytes',
    metric: removals(413),
    answer: [413, 'PAYLOAD_TOO_LARGE'],
    provoke: (relay) => multipart(relay, ['x'.repeat(101)]),
  },
  {
    id: 'head-bytes',
    answer: [431],
    async provoke(_relay, door) {
      return fallSilent(door, request(`GET ${keyListPath}`, `x-padding: ${'x'.repeat(16 * 1024)}\r\n`));
    },
  },
  {
    id: 'header-fields',
    answer: [431],
    provoke: (_relay, door) => fallSilent(door, request(`GET ${keyListPath}`, 'x: 1\r\n'.repeat(100))),
  },
  {
    id: 'authorization-characters',
    metric: answered(`GET ${relayReceiptsPath}`, 401),
    answer: [401, 'UNAUTHORIZED'],
    provoke: (relay) => ask(question(relay.url + relayReceiptsPath, `Basic ${'QUFB'.repeat(1024)}`)),
  },
];

const operators: readonly HttpLimit[] = [
  {
    id: 'health-without-slots',
    http: { maximumConnections: 4, maximumRequestsInFlight: 4 },
    answer: [200],
    spares: 'health',
    async provoke(relay, door) {
      await door.hold(4, half(relay), greedyAddress);
      expect((await keyList(relay)).status).toBe(503);
      const { status } = await ask({ url: `${relay.url}/health/live`, localAddress: greedyAddress });
      return { status };
    },
  },
  {
    id: 'metrics-web-pages',
    answer: [403],
    async provoke(relay) {
      const { status } = await fetch(relay.metricsUrl, {
        headers: { origin: 'https://elsewhere.example', connection: 'close' },
      });
      return { status };
    },
  },
];

function multipart(relay: RelayUnderLimits, names: readonly string[]): Promise<Answer> {
  const parts = names.map((name) => `--x\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n1\r\n`);
  return ask({
    url: relay.url + relayRemovePath,
    method: 'POST',
    headers: {
      authorization: relay.greedy.authorization,
      'content-type': 'multipart/form-data; boundary=x',
    },
    body: `${parts.join('')}--x--\r\n`,
  });
}

/** Limits that apply to all requests and that both programs have. */
export const httpLimits: readonly HttpLimit[] = [...numbers, ...times, ...sizes, ...operators];
