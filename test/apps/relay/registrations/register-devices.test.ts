import { DatabaseUnavailableError } from '@waxwing/storage';
import { sql } from 'kysely';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { eachBackend } from '../../../support/test-databases.js';
import {
  type Answer,
  goodForm,
  otherRealmUuid,
  type RelayUnderTest,
  realmUuid,
  startRelayUnderTest,
} from '../relay-under-test.js';

eachBackend((backend) => {
  let relay: RelayUnderTest;
  beforeEach(async () => {
    relay = await startRelayUnderTest(await backend.freshUrl());
  });
  afterEach(() => relay.close());

  async function ask(body: string, authorization = relay.authorization): Promise<Answer> {
    const answer = await relay.app.inject({
      method: 'POST',
      url: '/api/v1/remotes/push/e2ee/register_many',
      headers: { authorization, 'content-type': 'application/json' },
      payload: body,
    });
    return { status: answer.statusCode, body: answer.json(), headers: answer.headers };
  }

  /** Builds the body from account ids in strings, so that large ids are not rounded. */
  function bodyOf(items: readonly Record<string, string>[], realm = realmUuid): string {
    const registrations = items.map(({ realm_uuid: _realm, push_account_id: id, ...fields }) =>
      JSON.stringify({ push_account_id: 0, ...fields }).replace('0', id ?? ''),
    );
    return `{"realm_uuid": "${realm}", "registrations": [${registrations.join(', ')}]}`;
  }

  const register = (...items: Record<string, string>[]) => ask(bodyOf(items));
  const of = (push_account_id: string, changes: Record<string, string> = {}) =>
    goodForm({ push_account_id, ...changes });
  const many = (count: number) => Array.from({ length: count }, (_, index) => of(String(1 + (index % 10))));
  /** Passes every write to `around`. Returns a function that restores the normal writes. */
  function watchWrites(around: (write: () => Promise<unknown>) => Promise<unknown>): () => void {
    const ways = (['writeBatched', 'writeStatement'] as const).map((way) => {
      const write = relay.database[way].bind(relay.database) as (work: unknown) => Promise<unknown>;
      return vi
        .spyOn(relay.database, way)
        .mockImplementation((work: unknown) => around(() => write(work)) as never);
    });
    return () => {
      for (const way of ways) way.mockRestore();
    };
  }
  const failWrites = (error: Error) => watchWrites(() => Promise.reject(error));
  const unknownKey = { bouncer_public_key: Buffer.alloc(32, 9).toString('base64') };

  it('stores each registration and returns the same device ids as single requests', async () => {
    const accounts = ['2408', '-9223372036854775808', '9223372036854775807'];
    const { status, body } = await register(...accounts.map((id) => of(id)));
    expect(status).toBe(200);
    const devices = await relay.devices();
    const idOf = (account: string) => devices.find((row) => row.push_account_id === account)?.id;
    expect(devices).toHaveLength(3);
    expect(body).toEqual({
      result: 'success',
      msg: '',
      results: accounts.map((account) => ({ result: 'success', device_id: idOf(account) })),
    });
    expect(await relay.register(of('2408'))).toMatchObject({ body: { device_id: idOf('2408') } });
    expect(await register(...accounts.map((id) => of(id)))).toMatchObject({ body });
  });

  it('checks each registration separately, with the same errors as single requests', async () => {
    const wrong = [of('2', unknownKey), of('3', { encrypted_push_registration: 'AAAA' })];
    const alone = await Promise.all(wrong.map((form) => relay.register(form)));
    expect(await register(of('1'), ...wrong, of('4'))).toMatchObject({
      status: 200,
      body: {
        results: [
          { result: 'success' },
          ...alone.map(({ body: { code, msg } }) => ({ result: 'error', code, msg })),
          { result: 'success' },
        ],
      },
    });
    expect((await relay.devices()).map(({ push_account_id }) => push_account_id)).toEqual(['1', '4']);
  });

  it('refuses and does not store registrations that are too old', async () => {
    relay.time.now += 100_000_000;
    const { body } = await register(of('1'), of('2'));
    expect(body.results).toMatchObject([{ code: 'REQUEST_EXPIRED' }, { code: 'REQUEST_EXPIRED' }]);
    expect(await relay.devices()).toEqual([]);
  });

  it('refuses unauthorized and malformed requests, and stores nothing', async () => {
    const body = bodyOf([of('1')]);
    expect(await ask(body, 'Basic AAAA')).toMatchObject({ status: 401 });
    expect(await ask(body, relay.otherAuthorization)).toMatchObject({
      status: 403,
      body: { code: 'REMOTE_REALM_SERVER_MISMATCH_ERROR' },
    });
    const nobody = bodyOf([of('1')], '00000000-0000-4000-8000-000000000000');
    expect(await ask(nobody)).toMatchObject({ status: 403, body: { code: 'MISSING_REMOTE_REALM' } });
    const wrong: [string, string][] = [
      ['{', 'Malformed JSON'],
      [bodyOf([]), 'Invalid registrations: must be 1 to 100 registrations'],
      [bodyOf(many(101)), 'Invalid registrations: must be 1 to 100 registrations'],
      [
        bodyOf([of('1'), of('"x"')]),
        'Invalid registrations.1.push_account_id: must be an integer of 64 bits',
      ],
      [`{"realm_uuid": "${realmUuid}", "registrations": [{"push_account_id": 1}]}`, 'registrations.0.'],
      [bodyOf([of('1')], 'x'), 'Invalid realm_uuid: must be a UUID'],
    ];
    for (const [text, msg] of wrong) {
      expect(await ask(text)).toMatchObject({
        status: 400,
        body: { code: 'BAD_REQUEST', msg: expect.stringContaining(msg) },
      });
    }
    expect(await relay.devices()).toEqual([]);
  });

  it('a registration that the database rejects does not affect others in the same batch', async () => {
    await register(of('2'));
    // Account 2 now has a row for a different token. Its next registration inserts a second row, which the index
    // refuses.
    await sql`update relay_devices set token_lookup = 'another'`.execute(relay.database.db);
    await sql`create unique index one_of_two on relay_devices (push_account_id) where push_account_id = '2'`.execute(
      relay.database.db,
    );
    const [{ body }, alone] = await Promise.all([
      register(of('1'), of('2'), of('3')),
      relay.register(of('4')),
    ]);
    expect(body.results).toMatchObject([
      { result: 'success' },
      { result: 'error', code: 'INTERNAL_SERVER_ERROR', msg: 'Internal server error' },
      { result: 'success' },
    ]);
    expect(alone).toMatchObject({ status: 200 });
    const accounts = (await relay.devices()).map(({ push_account_id: id }) => id);
    expect(accounts.sort()).toEqual(['1', '2', '3', '4']);
  });

  it('returns an error for the whole request if the database fails, so that the server retries', async () => {
    const restore = failWrites(new Error('the disk is full'));
    expect(await register(of('1'), of('2'))).toMatchObject({
      status: 500,
      body: { code: 'INTERNAL_SERVER_ERROR' },
    });
    restore();
    const repeated = await register(of('1'), of('2'));
    expect(repeated.body.results).toMatchObject([{ result: 'success' }, { result: 'success' }]);
  });

  it('returns Retry-After while the database is down, even if some items have other errors', async () => {
    const restore = failWrites(new DatabaseUnavailableError('there is no connection'));
    const answer = await register(of('1'), of('2', unknownKey), of('3'));
    expect(answer).toMatchObject({ status: 503, body: { code: 'SERVICE_UNAVAILABLE' } });
    expect(answer.headers['retry-after']).toBe('5');
    restore();
    const { body } = await register(of('1'), of('2', unknownKey), of('3'));
    expect(body.results).toMatchObject([
      { result: 'success' },
      { code: 'INVALID_BOUNCER_PUBLIC_KEY' },
      { result: 'success' },
    ]);
  });

  it('logs one line per request with the number of failed registrations', async () => {
    const restore = failWrites(new Error('the disk is broken'));
    const { body } = await register(of('1'), of('2', unknownKey), of('3'));
    restore();
    const failed = { code: 'INTERNAL_SERVER_ERROR' };
    expect(body.results).toMatchObject([failed, { code: 'INVALID_BOUNCER_PUBLIC_KEY' }, failed]);
    const lines = relay.logged().split('\n');
    const told = lines.filter((line) => line.includes('could not be stored'));
    expect(told).toHaveLength(1);
    expect(JSON.parse(told[0] ?? '')).toMatchObject({ count: 2, err: { message: 'the disk is broken' } });
  });

  it('stores registrations one at a time after their shared transaction fails', async () => {
    await register(of('1'), of('2'), of('3'));
    let writes = 0;
    let underWay = 0;
    let atOnce = 0;
    const restore = watchWrites(async (write) => {
      writes += 1;
      if (writes === 1) throw new Error('cannot be kept together');
      underWay += 1;
      atOnce = Math.max(atOnce, underWay);
      try {
        return await write();
      } finally {
        underWay -= 1;
      }
    });
    const { body } = await register(of('1'), of('2'), of('3'));
    restore();
    expect(body.results).toMatchObject([{ result: 'success' }, { result: 'success' }, { result: 'success' }]);
    expect(atOnce).toBe(1);
  });

  it('charges the quota for all registrations, or for none if the quota does not cover all', async () => {
    await relay.close();
    relay = await startRelayUnderTest(await backend.freshUrl(), {
      RELAY_SERVER_NOTIFICATIONS_PER_MINUTE: '60',
    });
    expect(await ask('{')).toMatchObject({ status: 400 });
    expect(await register(...many(57))).toMatchObject({ status: 200 });
    const refused = await register(...many(4));
    expect(refused).toMatchObject({ status: 503, body: { code: 'RATE_LIMIT_HIT' } });
    expect(refused.headers['retry-after']).toBe('2');
    expect(await register(...many(2))).toMatchObject({ status: 200 });
    expect(await register(of('1'))).toMatchObject({ status: 503 });
    relay.time.now += 1000;
    expect(await ask(bodyOf([of('1')], otherRealmUuid))).toMatchObject({ status: 403 });
  });
});
