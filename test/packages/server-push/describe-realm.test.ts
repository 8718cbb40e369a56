import { Secret } from '@waxwing/service/config';
import { describe, expect, it } from 'vitest';
import { describeRealm } from '#server-push/relay-account/describe-realm.js';

const realm = {
  uuid: '9aa61d0b-8ce5-488d-8e9e-fedc346e6836',
  url: 'https://chat.example.com',
  name: 'Example',
};
const keyOf = (byte: number) => new Secret(new Uint8Array(32).fill(byte));

describe('the description of an organization for a relay', () => {
  it('has a stable secret, which differs between organizations and installations', () => {
    const { uuid_owner_secret: secret } = describeRealm(realm, keyOf(1));
    expect(secret).toMatch(/^[0-9a-f]{64}$/);
    expect(describeRealm(realm, keyOf(1)).uuid_owner_secret).toBe(secret);
    expect(describeRealm(realm, keyOf(2)).uuid_owner_secret).not.toBe(secret);
    const other = { ...realm, uuid: 'f5dac85f-60ad-4e45-9db2-1e0e891e940e' };
    expect(describeRealm(other, keyOf(1)).uuid_owner_secret).not.toBe(secret);
  });

  it('has every field that a stock relay requires', () => {
    expect(describeRealm(realm, keyOf(1))).toMatchObject({
      uuid: realm.uuid,
      url: realm.url,
      name: realm.name,
      host: 'chat.example.com',
      id: 1,
      org_type: 0,
      date_created: 0,
      deactivated: false,
      is_system_bot_realm: false,
      authentication_methods: {},
    });
  });
});
