import { readFileSync, writeFileSync } from 'node:fs';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { type DeliveriesUnderTest, fcmRequest, startDeliveriesUnderTest } from './deliveries-under-test.js';

const unregistered = JSON.stringify({ error: { code: 404, status: 'UNREGISTERED' } });
const tokenAnswer = JSON.stringify({ access_token: 'token', expires_in: 3600 });

/** Answers like Google, with as much more behind the words as is said, or with more and more. */
class TalkativeGoogle {
  connections = 0;
  messages = { status: 404, more: 0 };
  oauth = { status: 200, more: 0 };
  readonly #server: Server;

  private constructor() {
    this.#server = createServer((request, response) => {
      request.resume();
      const isOauth = request.url === '/token';
      answer(response, isOauth ? this.oauth : this.messages, isOauth ? tokenAnswer : unregistered);
    });
    this.#server.on('connection', () => {
      this.connections += 1;
    });
  }

  static async start(): Promise<TalkativeGoogle> {
    const google = new TalkativeGoogle();
    await new Promise<void>((resolve) => google.#server.listen(0, '127.0.0.1', resolve));
    return google;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

function answer(response: ServerResponse, { status, more }: { status: number; more: number }, words: string) {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.write(words);
  if (Number.isFinite(more)) {
    response.end(' '.repeat(more));
    return;
  }
  const goOn = (): void => {
    if (!response.destroyed) response.write(' '.repeat(4096), () => setImmediate(goOn));
  };
  goOn();
}

let relay: DeliveriesUnderTest | undefined;
let google: TalkativeGoogle;
afterEach(async () => {
  await google.close();
  await relay?.close();
  relay = undefined;
});

/** A relay whose Google is the talkative one. */
async function start(): Promise<DeliveriesUnderTest> {
  google = await TalkativeGoogle.start();
  relay = await startDeliveriesUnderTest({
    environment: { RELAY_FCM_BASE_URL: google.url },
    timings: { delayDivisor: 1 },
    apps: ({ credentials }) => {
      const account = JSON.parse(readFileSync(credentials.serviceAccountFile, 'utf8'));
      const file = join(credentials.serviceAccountFile, '..', 'talkative.json');
      writeFileSync(file, JSON.stringify({ ...account, token_uri: `${google.url}/token` }), { mode: 0o600 });
      return { fcm: [{ service_account_file: file }] };
    },
  });
  return relay;
}

describe('an answer of Google that is longer than its answers are', () => {
  it('names no reason when it refuses, and the connection goes on', async () => {
    const { addFcm, notify } = await start();
    const id = await addFcm('fcm-1');
    google.messages.more = 20 * 1024;
    for (let round = 0; round < 3; round += 1) {
      const { body } = await notify([fcmRequest(id)]);
      expect(body.results[0]).toMatchObject({ status: 'rejected', reason: 'UNKNOWN' });
    }
    // One for access tokens, one for messages.
    expect(google.connections).toBe(2);
  });

  it('is not waited for to its end when there is none', async () => {
    const { addFcm, notify } = await start();
    const id = await addFcm('fcm-1');
    google.messages.more = Number.POSITIVE_INFINITY;
    const { body } = await notify([fcmRequest(id)]);
    expect(body.results[0]).toMatchObject({ status: 'rejected', reason: 'UNKNOWN' });
  });

  it.each([
    [200, 20 * 1024],
    [200, Number.POSITIVE_INFINITY],
    [400, Number.POSITIVE_INFINITY],
  ])('is no access token (HTTP %i, %d bytes more)', async (status, more) => {
    const { addFcm, notify } = await start();
    const id = await addFcm('fcm-1');
    google.oauth = { status, more };
    const { body } = await notify([fcmRequest(id)]);
    const reason = status === 200 ? 'OAUTH_UNAVAILABLE' : 'OAUTH_REFUSED';
    expect(body.results[0]).toMatchObject({ status: 'queued', reason });
  });
});
