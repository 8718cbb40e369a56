import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eachBackend } from '../../../support/test-databases.js';
import { type JoiningUnderTest, newKey, newServer, startJoiningUnderTest } from './joining-under-test.js';

// The response that the section "remotes/server/register" in docs/protocol.md specifies.
const updated = { result: 'success', msg: '', created: false };

eachBackend((backend) => {
  let relay: JoiningUnderTest;
  beforeAll(async () => {
    relay = await startJoiningUnderTest(await backend.freshUrl());
  });
  afterAll(() => relay.close());

  async function joined() {
    const form = newServer();
    expect(await relay.join({ ...form, invitation: await relay.invite() })).toMatchObject({ status: 200 });
    return form;
  }

  describe('a rotation of the server key', () => {
    const withKey = (form: Record<string, string>, zulip_org_key: string) => ({ ...form, zulip_org_key });

    it('keeps the old key valid for ten minutes', async () => {
      const form = await joined();
      const [old = '', next] = [form.zulip_org_key, newKey()];
      expect((await relay.join({ ...form, new_org_key: next })).body).toEqual(updated);
      for (const key of [old, next]) expect(await relay.statusOf(withKey(form, key))).toBe(200);
      relay.time.now += 10 * 60_000 - 1;
      expect(await relay.statusOf(withKey(form, old))).toBe(200);
      relay.time.now += 2001;
      expect(await relay.statusOf(withKey(form, old))).toBe(401);
      expect((await relay.join(form)).body.code).toBe('INVALID_ZULIP_SERVER');
      expect(await relay.statusOf(withKey(form, next))).toBe(200);
    });

    it('can be repeated with the old key within ten minutes, by a server that lost the response', async () => {
      const form = await joined();
      const [lost, next] = [newKey(), newKey()];
      expect((await relay.join({ ...form, new_org_key: lost })).body).toEqual(updated);
      relay.time.now += 9 * 60_000;
      expect((await relay.join({ ...form, new_org_key: lost })).body).toEqual(updated);
      expect((await relay.join({ ...form, new_org_key: next })).body).toEqual(updated);
      relay.time.now += 2000;
      expect(await relay.statusOf(withKey(form, lost))).toBe(401);
      expect(await relay.statusOf(withKey(form, next))).toBe(200);
      relay.time.now += 60_000;
      expect((await relay.join({ ...form, new_org_key: newKey() })).body.code).toBe('INVALID_ZULIP_SERVER');
    });
  });
});
