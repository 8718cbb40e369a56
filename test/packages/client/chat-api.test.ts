import { ApiError, createChatApi, UnreachableError } from '@waxwing/client';
import { parsePushAccountId } from '@waxwing/protocol';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { FakeChatServer } from './fake-chat-server.js';

const registerPath = '/api/v1/mobile_push/register';
const request = {
  tokenKind: 'fcm',
  pushAccountId: parsePushAccountId('9223372036854775807') ?? (0n as never),
  pushPublicKey: 'a+/=',
  bouncerPublicKey: 'b+/=',
  encryptedPushRegistration: 'YWJj',
} as const;

function connect() {
  const server = new FakeChatServer();
  const { url: realmUrl, email, apiKey, fetch } = server;
  return { server, api: createChatApi({ realmUrl, email, apiKey, fetch, clock: () => server.now }) };
}

async function refusalOf(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => undefined,
    (error: unknown) => error,
  );
}

afterEach(() => {
  vi.useRealTimers();
});

describe('The chat API', () => {
  it('sends a registration as form fields with the user’s credentials and without rounding the id', async () => {
    const { server, api } = connect();
    await api.registerPushDevice(request);
    const [sent] = server.requestsTo('mobile_push/register');
    expect(Object.fromEntries(sent?.fields ?? [])).toEqual({
      token_kind: 'fcm',
      push_account_id: '9223372036854775807',
      push_public_key: 'a+/=',
      bouncer_public_key: 'b+/=',
      encrypted_push_registration: 'YWJj',
    });
  });

  it('needs only the `status`, `headers.get` and `text` of a response, as from an app’s native `fetch`', async () => {
    const { server, api } = connect();
    const { url: realmUrl, email, apiKey, fetch } = server;
    const native = async (url: string, init: RequestInit) => {
      const whole = await fetch(url, init);
      const headers = { get: (name: string) => whole.headers.get(name) };
      return { status: whole.status, headers, text: () => whole.text() } as Response;
    };
    const throughNative = createChatApi({ realmUrl, email, apiKey, fetch: native, clock: () => server.now });
    await throughNative.registerPushDevice(request);
    server.overrides.set(registerPath, () => server.answer({}, { status: 502 }));
    for (const one of [api, throughNative]) {
      expect(await refusalOf(one.registerPushDevice(request))).toBeInstanceOf(UnreachableError);
    }
  });

  it('throws the server’s code, status, extra fields and Retry-After', async () => {
    const { server, api } = connect();
    server.overrides.set(registerPath, () =>
      server.error('RATE_LIMIT_HIT', 429, { bucket: 'push' }, { 'retry-after': '30' }),
    );
    const error = await refusalOf(api.registerPushDevice(request));
    expect(error).toBeInstanceOf(ApiError);
    expect(error).toMatchObject({
      code: 'RATE_LIMIT_HIT',
      message: 'refused: RATE_LIMIT_HIT',
      httpStatus: 429,
      retryAfterSeconds: 30,
      fields: { bucket: 'push' },
      remedy: 'retry-later',
    });
  });

  it.each([
    ['FROM_THE_FUTURE', 400, 'fix-request'],
    ['FROM_THE_FUTURE', 403, 'ask-admin'],
    ['FROM_THE_FUTURE', 503, 'retry-later'],
    ['INVALID_BOUNCER_PUBLIC_KEY', 400, 'update-app'],
  ])('throws an error with the code %s, the status %d and a remedy', async (code, status, remedy) => {
    const { server, api } = connect();
    server.overrides.set(registerPath, () => server.error(code, status));
    expect(await refusalOf(api.registerPushDevice(request))).toMatchObject({ code, remedy });
  });

  it('throws an error with the code UNKNOWN if the server sends no code', async () => {
    const { server, api } = connect();
    server.overrides.set(registerPath, () => new Response('{"result":"error","msg":"no"}', { status: 400 }));
    expect(await refusalOf(api.registerPushDevice(request))).toMatchObject({
      code: 'UNKNOWN',
      message: 'no',
    });
  });

  it('parses Retry-After as a date', async () => {
    const { server, api } = connect();
    const headers = { 'retry-after': new Date(server.now + 90_000).toUTCString() };
    server.overrides.set(registerPath, () => server.error('SERVICE_UNAVAILABLE', 503, {}, headers));
    expect(await refusalOf(api.registerPushDevice(request))).toMatchObject({ retryAfterSeconds: 90 });
  });

  it.each([
    ['a proxy’s page', new Response('<html>', { status: 502 })],
    ['an empty response', new Response('')],
    ['JSON that is not an object', new Response('[1]')],
    ['a success with an error status', new Response('{"result":"success"}', { status: 500 })],
    ['no result', new Response('{}')],
  ])('treats %s as an unusable response', async (_, response) => {
    const { server, api } = connect();
    server.overrides.set(registerPath, () => response);
    expect(await refusalOf(api.registerPushDevice(request))).toBeInstanceOf(UnreachableError);
  });

  it.each([
    ['events that are null', '{"result":"success","events":[null]}'],
    ['no events', '{"result":"success"}'],
    ['an event without an id', '{"result":"success","events":[{"type":"heartbeat"}]}'],
  ])('treats %s as an unusable response', async (_, body) => {
    const { server, api } = connect();
    server.overrides.set('/api/v1/events', () => new Response(body));
    const error = await refusalOf(api.getEvents({ queueId: 'q', lastEventId: -1 }));
    expect(error).toBeInstanceOf(UnreachableError);
  });

  it('reads ids in events without rounding, as a string or a number', async () => {
    const { server, api } = connect();
    const ids = ['"9223372036854775807"', '9223372036854775807', '-5'];
    const events = ids.map(
      (id, index) => `{"id":${index},"type":"push_device","push_account_id":${id},"status":"active"}`,
    );
    server.overrides.set('/api/v1/events', () => new Response(`{"result":"success","events":[${events}]}`));
    const read = await api.getEvents({ queueId: 'q', lastEventId: -1 });
    expect(read.map((event) => event.pushDevice?.pushAccountId)).toEqual([
      2n ** 63n - 1n,
      2n ** 63n - 1n,
      -5n,
    ]);
  });

  it('aborts its fetch when the response takes too long', async () => {
    vi.useFakeTimers();
    const server = new FakeChatServer();
    const signals: AbortSignal[] = [];
    const api = createChatApi({
      realmUrl: server.url,
      email: 'e',
      apiKey: 'k',
      timeoutMilliseconds: 5000,
      fetch: (_, { signal }) =>
        new Promise((_, reject) => {
          if (!signal) throw new Error('There is no signal.');
          signals.push(signal);
          signal.addEventListener('abort', () => reject(signal.reason));
        }),
    });
    const refused = refusalOf(api.registerPushDevice(request));
    await vi.advanceTimersByTimeAsync(4999);
    expect(signals[0]?.aborted).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    expect(String(await refused)).toContain('did not answer within 5000 ms');
  });

  it('leaves no timer that keeps the process alive', async () => {
    vi.useFakeTimers();
    const { api } = connect();
    await api.deleteEventQueue('q');
    expect(vi.getTimerCount()).toBe(0);
  });

  it('aborts a response whose body never ends', async () => {
    vi.useFakeTimers();
    const api = createChatApi({
      realmUrl: 'https://chat.example.com',
      email: 'e',
      apiKey: 'k',
      fetch: async (_, { signal }) => {
        const body = new ReadableStream({
          start: (controller) => signal?.addEventListener('abort', () => controller.error(signal.reason)),
        });
        return new Response(body);
      },
    });
    const refused = refusalOf(api.registerPushDevice(request));
    await vi.advanceTimersByTimeAsync(30_000);
    expect(await refused).toBeInstanceOf(UnreachableError);
  });

  it('reads at most a megabyte of a response', async () => {
    const { server, api } = connect();
    let chunks = 0;
    const body = new ReadableStream({
      pull(controller) {
        chunks += 1;
        controller.enqueue(new Uint8Array(64 * 1024).fill(0x20));
      },
    });
    server.overrides.set(registerPath, () => new Response(body));
    expect(String(await refusalOf(api.registerPushDevice(request)))).toContain('longer than 1048576 bytes');
    expect(chunks).toBeLessThan(20);
  });

  it('rejects a larger declared length without reading, and a long text on a platform without streams', async () => {
    const { server, api } = connect();
    const announced = () => new Response('{}', { headers: { 'content-length': '9999999' } });
    server.overrides.set(registerPath, announced);
    expect(String(await refusalOf(api.registerPushDevice(request)))).toContain('longer than');
    const withoutStreams = { headers: new Headers(), body: undefined, text: async () => ' '.repeat(2 ** 21) };
    server.overrides.set(registerPath, () => withoutStreams as unknown as Response);
    expect(String(await refusalOf(api.registerPushDevice(request)))).toContain('longer than');
  });

  it('never follows a redirect, uses a cache or sends cookies', async () => {
    const inits: RequestInit[] = [];
    const { server } = connect();
    const { url: realmUrl, email, apiKey } = server;
    const api = createChatApi({
      realmUrl,
      email,
      apiKey,
      fetch: (url, init) => {
        inits.push(init);
        return server.fetch(url, init);
      },
    });
    await api.registerPushDevice(request);
    expect(inits[0]).toMatchObject({ redirect: 'error', cache: 'no-store', credentials: 'omit' });
  });

  it('fetches the key list without credentials', async () => {
    const { server, api } = connect();
    server.keyList = { key_list: 'x' };
    await expect(api.getBouncerKeys()).resolves.toMatchObject({ key_list: 'x' });
    expect(server.requests[0]?.authorization).toBeUndefined();
  });

  it.each([
    'http://localhost:8310',
    'http://127.0.0.1:8310/',
    'http://[::1]:8310',
    'https://x.example/chat/',
  ])('accepts the server URL %s', async (realmUrl) => {
    const urls: string[] = [];
    const fetch = async (url: string) => {
      urls.push(url);
      return new Response('{"result":"success"}');
    };
    await createChatApi({ realmUrl, email: 'e', apiKey: 'k', fetch }).deleteEventQueue('q');
    expect(urls).toEqual([`${realmUrl.replace(/\/$/, '')}/api/v1/events`]);
  });

  it.each([
    'http://chat.example.com',
    'http://127.0.0.1.example.com',
    'http://localhost.example.com',
    'http://user@localhost',
    'ftp://chat.example.com',
    'https://chat.example.com?x',
    'https://user:password@chat.example.com',
    '',
  ])('rejects the server URL “%s”', (realmUrl) => {
    expect(() => createChatApi({ realmUrl, email: 'e', apiKey: 'k' })).toThrow(RangeError);
  });
});
