import {
  encodeRelayRemoval,
  type PushAccountIdText,
  type RelayDeviceId,
  type TokenId,
} from '@waxwing/protocol';
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
import { tokenForm } from './token-form.js';

eachBackend((backend) => {
  let relay: RelayUnderTest;
  beforeEach(async () => {
    relay = await startRelayUnderTest(await backend.freshUrl());
  });
  afterEach(() => relay.close());

  async function register(pushAccountId: string): Promise<number> {
    const { body } = await relay.register(goodForm({ push_account_id: pushAccountId }));
    return body.device_id as number;
  }

  async function remove(form: Record<string, string>, authorization = relay.authorization): Promise<Answer> {
    const answer = await relay.app.inject({
      method: 'POST',
      url: '/api/v1/remotes/push/e2ee/remove',
      headers: { authorization, 'content-type': 'application/x-www-form-urlencoded' },
      payload: new URLSearchParams(form).toString(),
    });
    return { status: answer.statusCode, body: answer.json(), headers: answer.headers };
  }

  const success = { status: 200, body: { result: 'success', msg: '' } };
  const ids = async () => (await relay.devices()).map(({ id }) => id);

  it('deletes only the listed devices, with their tokens', async () => {
    const [first, second, third] = [await register('1'), await register('2'), await register('3')];
    const form = { realm_uuid: realmUuid.toUpperCase(), device_ids: JSON.stringify([first, third]) };
    expect(await remove(form)).toMatchObject(success);
    expect(await ids()).toEqual([second]);
  });

  it('returns success for a repeat, an unknown device, an empty list and another server’s device', async () => {
    const id = await register('1');
    const form = { realm_uuid: realmUuid, device_ids: JSON.stringify([id]) };
    const stranger = { ...form, realm_uuid: otherRealmUuid };
    const answers = [
      await remove(stranger, relay.otherAuthorization),
      await remove({ ...form, device_ids: '[9007199254740991]' }),
      await remove({ ...form, device_ids: '[]' }),
    ];
    expect(await ids()).toEqual([id]);
    answers.push(await remove(form), await remove(form));
    for (const { status, body } of answers) expect({ status, body }).toEqual(success);
    expect(await ids()).toEqual([]);
  });

  it('deletes a device only if the request names its own account', async () => {
    const accounts = ['9223372036854775807', '9223372036854775806', '-1'];
    const [first, second, third] = [
      await register(accounts[0] ?? ''),
      await register(accounts[1] ?? ''),
      await register(accounts[2] ?? ''),
    ];
    const named = (device_ids: number[], ids: string[]) =>
      remove({
        realm_uuid: realmUuid,
        device_ids: JSON.stringify(device_ids),
        push_account_ids: `[${ids.join(',')}]`,
      });
    // As doubles, the first two account ids would be equal.
    expect(await named([first, second, third], [accounts[1] ?? '', accounts[0] ?? '', '1'])).toMatchObject(
      success,
    );
    expect(await ids()).toEqual([first, second, third]);
    // A device id may occur several times, with different accounts.
    expect(await named([first, first, third], ['0', accounts[0] ?? '', '-1'])).toMatchObject(success);
    expect(await ids()).toEqual([second]);
    expect(await named([], [])).toMatchObject(success);
  });

  it('refuses account lists of the wrong length or with values that are not 64-bit integers', async () => {
    const id = await register('1');
    const form = { realm_uuid: realmUuid, device_ids: `[${id}]` };
    const tooMany = JSON.stringify(Array.from({ length: 201 }, () => 1));
    const wrong = ['', '1', '{}', '[]', '[1,1]', '[1.5]', '[9223372036854775808]', '[null]', tooMany];
    for (const push_account_ids of wrong) {
      expect(await remove({ ...form, push_account_ids })).toMatchObject({
        status: 400,
        body: { code: 'BAD_REQUEST', msg: expect.stringContaining('push_account_ids') },
      });
    }
    expect(await ids()).toEqual([id]);
    expect(await remove({ ...form, push_account_ids: '["1"]' })).toMatchObject(success);
    expect(await ids()).toEqual([]);
  });

  it('deletes devices by token, alone or together with devices of the older generation', async () => {
    const forms = ['one', 'two', 'three'].map((token) => tokenForm({ token }));
    for (const form of forms) await relay.register(form);
    const older = await register('1');
    const [one, two, three] = forms.map(({ token_id }) => token_id as TokenId);
    const left = async () => (await relay.devices()).map(({ push_account_id }) => push_account_id);
    const unknown = 'AAAAAAAAAAE=';
    const form = { realm_uuid: realmUuid, token_ids: JSON.stringify([one, unknown, one]) };
    expect(await remove({ ...form, realm_uuid: otherRealmUuid }, relay.otherAuthorization)).toMatchObject(
      success,
    );
    expect(await left()).toHaveLength(4);
    for (const _repeat of [1, 2]) expect(await remove(form)).toMatchObject(success);
    expect(await left()).toEqual([`token:${two}`, `token:${three}`, '1']);
    const both = encodeRelayRemoval(realmUuid, {
      devices: [{ relayDeviceId: older as RelayDeviceId, pushAccountId: '1' as PushAccountIdText }],
      tokens: [two as TokenId],
    });
    expect(await remove(both)).toMatchObject(success);
    expect(await left()).toEqual([`token:${three}`]);
    expect(await remove(encodeRelayRemoval(realmUuid, { tokens: [three as TokenId] }))).toMatchObject(
      success,
    );
    expect(await remove({ realm_uuid: realmUuid, token_ids: '[]' })).toMatchObject(success);
    expect(await left()).toEqual([]);
  });

  it('refuses invalid token ids, and changes nothing', async () => {
    await relay.register(tokenForm());
    const { token_id = '' } = tokenForm();
    const tooMany = JSON.stringify(Array(201).fill(token_id));
    for (const token_ids of [
      '',
      token_id,
      '{}',
      '[1]',
      '["192057"]',
      `["${token_id}", "AAAAAAAAAAF="]`,
      tooMany,
    ]) {
      expect(await remove({ realm_uuid: realmUuid, token_ids })).toMatchObject({
        status: 400,
        body: { code: 'BAD_REQUEST', msg: expect.stringContaining('at most 200 token ids') },
      });
    }
    const named = JSON.stringify(Array(200).fill(token_id));
    expect(await remove({ realm_uuid: realmUuid, token_ids: named, push_account_ids: '[1]' })).toMatchObject({
      status: 400,
      body: { msg: expect.stringContaining('push_account_ids') },
    });
    expect(await ids()).toHaveLength(1);
    expect(await remove({ realm_uuid: realmUuid, token_ids: named })).toMatchObject(success);
    expect(await ids()).toEqual([]);
  });

  it('writes nothing to the database for an empty list', async () => {
    // Jobs that run at every start would also write.
    await relay.database.jobs.stop(5000);
    const writes = vi.spyOn(relay.database, 'write');
    const named = (ids: number[]) => remove({ realm_uuid: realmUuid, device_ids: JSON.stringify(ids) });
    expect(await named([])).toMatchObject(success);
    expect(writes).not.toHaveBeenCalled();
    expect(await named([1])).toMatchObject(success);
    expect(writes).toHaveBeenCalledOnce();
  });

  it('gives a phone a new device id when it registers again after a removal', async () => {
    const id = await register('1');
    await remove({ realm_uuid: realmUuid, device_ids: `[${id}]` });
    expect(await register('1')).not.toBe(id);
  });

  it('refuses unauthorized and malformed requests, and changes nothing', async () => {
    const id = await register('1');
    const form = { realm_uuid: realmUuid, device_ids: `[${id}]` };
    expect(await remove(form, 'Basic AAAA')).toMatchObject({ status: 401 });
    expect(await remove(form, relay.otherAuthorization)).toMatchObject({
      status: 403,
      body: { code: 'REMOTE_REALM_SERVER_MISMATCH_ERROR' },
    });
    expect(await remove({ ...form, realm_uuid: '00000000-0000-4000-8000-000000000000' })).toMatchObject({
      status: 403,
      body: { code: 'MISSING_REMOTE_REALM' },
    });
    expect(await remove({ realm_uuid: realmUuid })).toMatchObject({
      body: { code: 'REQUEST_VARIABLE_MISSING', var_name: 'device_ids' },
    });
    const tooMany = JSON.stringify(Array.from({ length: 201 }, (_, index) => index));
    for (const device_ids of ['', `${id}`, `["${id}"]`, '[1.5]', '[-1]', '{}', tooMany]) {
      expect(await remove({ ...form, device_ids })).toMatchObject({
        status: 400,
        body: { code: 'BAD_REQUEST', msg: expect.stringContaining('device_ids') },
      });
    }
    expect(await ids()).toEqual([id]);
  });

  it('charges one unit of the quota per device, per empty list, and per invalid request', async () => {
    await relay.close();
    relay = await startRelayUnderTest(await backend.freshUrl(), {
      RELAY_SERVER_NOTIFICATIONS_PER_MINUTE: '61',
    });
    const named = (count: number) => ({
      realm_uuid: realmUuid,
      device_ids: JSON.stringify(Array.from({ length: count }, (_, index) => index)),
    });
    expect(await remove({ ...named(1), device_ids: '{}' })).toMatchObject({ status: 400 });
    expect(
      await remove({
        ...named(50),
        token_ids: JSON.stringify(Array(7).fill('AAAAAAAAAAE=')),
        ended_keys: JSON.stringify([{ token_id: 'AAAAAAAAAAE=', push_key_id: 1 }]),
      }),
    ).toMatchObject(success);
    expect(await remove(named(0))).toMatchObject(success);
    const refused = await remove(named(2));
    expect(refused).toMatchObject({ status: 503, body: { code: 'RATE_LIMIT_HIT' } });
    expect(refused.headers['retry-after']).toBe('1');
    expect(await remove(named(0))).toMatchObject(success);
    expect(await remove(named(0))).toMatchObject({ status: 503 });
    relay.time.now += 2000;
    expect(await remove(named(2))).toMatchObject(success);
  });
});
