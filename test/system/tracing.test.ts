import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { addUsers } from '../support/add-users.js';
import { Constellation, type ConstellationUser } from '../support/constellation.js';

const token = `fcm-${'t7'.repeat(60)}:APA91b-trace`;
const words = 'a parliament of snipes';
const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
const traceparent = `00-${traceId}-00f067aa0ba902b7-01`;

interface Span {
  readonly service: string;
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
}

interface Export {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly { key: string; value: { stringValue?: string } }[] };
    readonly scopeSpans: readonly { readonly spans: readonly Omit<Span, 'service'>[] }[];
  }[];
}

/** Starts a collector that accepts spans as JSON, through OTLP over HTTP. */
async function startCollector() {
  const bodies: string[] = [];
  const server = createServer(async (request, response) => {
    bodies.push(await text(request));
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const spans = (): Span[] =>
    bodies.flatMap((body) =>
      (JSON.parse(body) as Export).resourceSpans.flatMap(({ resource, scopeSpans }) => {
        const named = resource.attributes.find(({ key }) => key === 'service.name');
        const service = named?.value.stringValue ?? '';
        return scopeSpans.flatMap((scope) => scope.spans.map((span) => ({ ...span, service })));
      }),
    );
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/traces`,
    spans,
    bodies: () => bodies.join('\n'),
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

let collector: Awaited<ReturnType<typeof startCollector>>;
let world: Constellation;
let ada: ConstellationUser;
let bob: ConstellationUser;

beforeEach(async () => {
  collector = await startCollector();
  world = await Constellation.create({
    relay: { RELAY_TRACES_URL: collector.url, OTEL_BSP_SCHEDULE_DELAY: '100' },
    server: { SERVER_TRACES_URL: collector.url, OTEL_BSP_SCHEDULE_DELAY: '100' },
  });
  [ada, bob] = (await addUsers(world, ['ada', 'bob'])) as [ConstellationUser, ConstellationUser];
}, 120_000);

afterEach(async () => {
  await world.close();
  await collector.close();
});

/** The span names from a span up to the first span of its trace in `all`. */
function pathOf(span: Span, all: readonly Span[]): string[] {
  const parent = all.find(({ spanId }) => spanId === span.parentSpanId);
  const own = `${span.service}: ${span.name}`;
  return parent === undefined ? [own] : [own, ...pathOf(parent, all)];
}

it('a trace connects the request that sends a message to its delivery, even across a restart and a retry', async () => {
  const relay = await world.startRelay();
  await world.startServer();
  const phone = await world.phone(ada, { tokenKind: 'fcm', token });
  expect(await phone.registrar.sync()).toMatchObject({ code: 'active' });
  const rules = [{ vendor: 'fcm', status: 503 }];
  await fetch(`${world.vendors.urls.http}/faults`, { method: 'PUT', body: JSON.stringify({ rules }) });
  const fields = { type: 'direct', to: JSON.stringify([ada.user_id]), content: words };
  const answer = await fetch(`${world.serverUrl}/api/v1/messages`, {
    method: 'POST',
    headers: { authorization: `Basic ${btoa(`${bob.email}:${bob.api_key}`)}`, traceparent },
    body: new URLSearchParams(fields),
  });
  expect(answer.status).toBe(200);

  const ours = () => collector.spans().filter((span) => span.traceId === traceId);
  const sends = () => ours().filter(({ name }) => name === 'fcm send');
  await expect.poll(() => sends().length, { timeout: 30_000 }).toBeGreaterThan(0);
  await relay.end('SIGTERM');
  await fetch(`${world.vendors.urls.http}/faults`, { method: 'PUT', body: JSON.stringify({ rules: [] }) });
  const before = sends().length;
  await world.startRelay();
  await expect.poll(async () => (await world.deliveriesTo(token)).length, { timeout: 60_000 }).toBe(1);
  await expect.poll(() => sends().length, { timeout: 30_000 }).toBeGreaterThan(before);

  const path = [
    'waxwing-relay: fcm send',
    'waxwing-relay: POST /api/v1/remotes/push/e2ee/notify',
    'waxwing-server: relay /api/v1/remotes/push/e2ee/notify',
    'waxwing-server: notifications/deliver-notification',
    'waxwing-server: messages/notify-of-message',
    'waxwing-server: POST /api/v1/messages',
  ];
  for (const send of sends()) expect(pathOf(send, ours())).toEqual(path);
  for (const secret of [words, token, ada.api_key, bob.email])
    expect(collector.bodies()).not.toContain(secret);
}, 180_000);
