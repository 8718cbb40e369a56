import {
  encodeRelayRegisterMany,
  type PushAccountIdText,
  relayRegisterManyAnyAnswer,
  stringifyJson,
  type TokenId,
} from '@waxwing/protocol';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { eachBackend } from '../../../support/test-databases.js';
import {
  type Answer,
  goodForm,
  type RelayUnderTest,
  realmUuid,
  startRelayUnderTest,
} from '../relay-under-test.js';
import { tokenForm } from './token-form.js';

// Checks the section "remotes/push/e2ee/register_many" in docs/protocol.md for the newer generation.

eachBackend((backend) => {
  let relay: RelayUnderTest;
  beforeEach(async () => {
    relay = await startRelayUnderTest(await backend.freshUrl());
  });
  afterEach(() => relay.close());

  async function ask(body: string): Promise<Answer> {
    const answer = await relay.app.inject({
      method: 'POST',
      url: '/api/v1/remotes/push/e2ee/register_many',
      headers: { authorization: relay.authorization, 'content-type': 'application/json' },
      payload: body,
    });
    return { status: answer.statusCode, body: answer.json(), headers: answer.headers };
  }

  function bodyOf(items: readonly Record<string, string>[]): string {
    const registrations = items.map(({ realm_uuid: _realm, ...fields }) => fields);
    return JSON.stringify({ realm_uuid: realmUuid, registrations });
  }

  const register = (...items: Record<string, string>[]) => ask(bodyOf(items));
  const of = (push_account_id: string) => goodForm({ push_account_id });
  const unknownKey = { bouncer_public_key: Buffer.alloc(32, 9).toString('base64') };

  it('accepts both generations in one request, and returns ids only for the older generation', async () => {
    const items = [of('2408'), tokenForm({ token: 'one' }), tokenForm({ token: 'two' })];
    const { status, body } = await register(...items);
    const devices = await relay.devices();
    expect([status, devices.map(({ push_account_id }) => push_account_id).sort()]).toEqual([
      200,
      ['2408', `token:${items[1]?.token_id}`, `token:${items[2]?.token_id}`].sort(),
    ]);
    const older = devices.find(({ push_account_id }) => push_account_id === '2408');
    const results = [
      { result: 'success', device_id: older?.id },
      { result: 'success' },
      { result: 'success' },
    ];
    expect(body).toEqual({ result: 'success', msg: '', results });
    expect(await register(...items)).toMatchObject({ body: { results } });
    expect(await relay.devices()).toHaveLength(3);
  });

  it('returns the same results by token as single requests, and prefers the token to an account', async () => {
    const wrong = [
      tokenForm({}, unknownKey),
      tokenForm({}, { encrypted_push_registration: 'AAAA' }),
      tokenForm({}, { token_id: '192057' }),
      tokenForm({ timestamp: 1 }),
      tokenForm({ push_account_id: 2408 }),
    ];
    const alone = await Promise.all(wrong.map((form) => relay.register(form)));
    const { body } = await register(...wrong, tokenForm({}, { push_account_id: '2408' }));
    expect(body.results).toEqual([
      ...alone.map(({ body: { code, msg } }) => ({ result: 'error', code, msg })),
      { result: 'success' },
    ]);
    expect(await relay.devices()).toMatchObject([{ push_account_id: `token:${tokenForm().token_id}` }]);
    const text = bodyOf([tokenForm()]).replace(/"token_id":"[^"]*"/, '"token_id":7');
    expect(await ask(text)).toMatchObject({
      status: 400,
      body: { code: 'BAD_REQUEST', msg: expect.stringContaining('registrations.0.token_id') },
    });
  });

  it('lists the user’s accounts with the same token, for single and batch requests', async () => {
    const account = (push_account_id: string, token: string) => {
      const { token_id: _, ...older } = tokenForm({ token });
      return { ...older, push_account_id };
    };
    await register(account('1', 'one'), account('2', 'two'), account('3', 'one'));
    const named = tokenForm({ token: 'one' }, { accounts_of_user: '[1,2]' });
    expect((await relay.register(named)).body).toEqual({
      result: 'success',
      msg: '',
      same_token_push_account_ids: [1],
    });
    const many = bodyOf([named, tokenForm({ token: 'one' })]).replace('"[1,2]"', '[1,2]');
    const { body } = await ask(many);
    expect(body.results).toEqual([
      { result: 'success', same_token_push_account_ids: [1] },
      { result: 'success' },
    ]);
  });

  it('lists the user’s token ids for any spelling of the same token, in both generations', async () => {
    const idOf = (token: string) => tokenForm({ token }).token_id ?? '';
    const apns = { token_kind: 'apns', token: 'C0FFEE', ios_app_id: 'com.example.chat' };
    const ids = [idOf('C0FFEE'), idOf('c0ffee'), idOf('other')];
    const { token_id: _, ...older } = tokenForm(apns, { push_account_id: '5' });
    const newer = tokenForm(apns);
    const named = { token_ids_of_user: JSON.stringify(ids) };
    // Ids without a device in this realm are not listed.
    expect((await relay.register({ ...older, ...named })).body.same_token_ids).toBeUndefined();
    await register(newer, tokenForm({ ...apns, token: 'c0ffee' }));
    const found = (await relay.register({ ...older, ...named })).body.same_token_ids as string[];
    expect(found.sort()).toEqual(ids.slice(0, 2).sort());
    expect((await relay.register({ ...newer, ...named })).body.same_token_ids).toEqual([idOf('c0ffee')]);
    const google = await relay.register(tokenForm({ token: 'C0FFEE' }, named));
    expect(google.body).toEqual({ result: 'success', msg: '' });
    const many = JSON.parse(bodyOf([older, newer])) as { registrations: object[] };
    const registrations = many.registrations.map((each) => ({ ...each, token_ids_of_user: ids }));
    expect((await ask(JSON.stringify({ ...many, registrations }))).body.results).toMatchObject([
      { result: 'success', same_token_ids: expect.arrayContaining(ids.slice(0, 2)) },
      { result: 'success', same_token_ids: [idOf('c0ffee')] },
    ]);
  });

  it('refuses more than a hundred token ids, and other values', async () => {
    const many = Array.from({ length: 101 }, () => tokenForm().token_id);
    for (const all of [many, ['AAAA'], [7], 'x']) {
      expect(await relay.register(tokenForm({}, { token_ids_of_user: JSON.stringify(all) }))).toMatchObject({
        status: 400,
        body: { msg: 'Invalid token_ids_of_user: must be a JSON array of at most 100 token ids' },
      });
    }
  });

  it('encodes a request with both generations', async () => {
    const { token_id, encrypted_push_registration, bouncer_public_key } = tokenForm();
    const sealed = {
      encryptedPushRegistration: encrypted_push_registration ?? '',
      bouncerPublicKey: bouncer_public_key ?? '',
    };
    const older = of('9223372036854775807');
    const { body } = await ask(
      stringifyJson(
        encodeRelayRegisterMany(realmUuid, [
          {
            tokenId: token_id as TokenId,
            accountsOfUser: ['1' as PushAccountIdText],
            tokenIdsOfUser: [],
            ...sealed,
          },
          {
            pushAccountId: '9223372036854775807' as PushAccountIdText,
            encryptedPushRegistration: older.encrypted_push_registration ?? '',
            bouncerPublicKey: older.bouncer_public_key ?? '',
            accountsOfUser: [],
            tokenIdsOfUser: [token_id as TokenId],
          },
        ]),
      ),
    );
    const { results } = relayRegisterManyAnyAnswer.parse(body);
    expect(results).toMatchObject([
      { result: 'success' },
      { result: 'success', device_id: expect.any(Number) },
    ]);
    expect(results[0]).not.toHaveProperty('device_id');
  });
});
