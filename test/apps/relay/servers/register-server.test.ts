import { randomUUID } from 'node:crypto';
import { hashCredential } from '@waxwing/service/config';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { maximumNewServersPerDay } from '#relay/servers/joining/join-server.js';
import { suspendServer } from '#relay/servers/manage-servers.js';
import { eachBackend } from '../../../support/test-databases.js';
import { basic } from '../relay-under-test.js';
import { type JoiningUnderTest, newKey, newServer, startJoiningUnderTest } from './joining-under-test.js';

// The responses that the section "remotes/server/register" in docs/protocol.md specifies.
const created = { result: 'success', msg: '', created: true };
const updated = { result: 'success', msg: '', created: false };

eachBackend((backend) => {
  let relay: JoiningUnderTest;
  beforeAll(async () => {
    relay = await startJoiningUnderTest(await backend.freshUrl());
  });
  beforeEach(() => {
    // Refills the rate limit before each test.
    relay.time.now += 60_000;
  });
  afterAll(() => relay.close());

  async function joined(changes: Record<string, string> = {}) {
    const form = newServer(changes);
    expect(await relay.join({ ...form, invitation: await relay.invite() })).toMatchObject({ body: created });
    return form;
  }

  describe('a new server', () => {
    it('joins with an invitation, and may use the relay for the realms that it reports', async () => {
      const form = newServer({ invitation: await relay.invite({ name: 'Example Chat' }) });
      expect(await relay.join(form)).toMatchObject({ status: 200, body: created });
      expect(await relay.server(form.zulip_org_id)).toMatchObject({
        name: 'Example Chat',
        hostname: form.hostname,
        contact_email: 'admin@example.org',
        key_hash: hashCredential(form.zulip_org_key ?? ''),
      });
      const realm = randomUUID();
      expect(await relay.report(form, [realm])).toMatchObject({
        status: 200,
        body: { realms: { [realm]: { can_push: true, expected_end_timestamp: null } } },
      });
      const registration = { realm_uuid: realm, token_id: 'AAAAAAAAAAE=', bouncer_public_key: 'x' };
      const headers = { authorization: basic(form.zulip_org_id ?? '', form.zulip_org_key ?? '') };
      const { body } = await relay.register({ ...registration, encrypted_push_registration: 'x' }, headers);
      expect(body.code).toBe('INVALID_BOUNCER_PUBLIC_KEY');
    });

    it('must not report a realm of another server', async () => {
      const [realm, one, other] = [randomUUID(), await joined(), await joined()];
      expect(await relay.report(one, [realm])).toMatchObject({ status: 200 });
      expect(await relay.report(other, [realm])).toMatchObject({
        status: 400,
        body: { code: 'BAD_REQUEST', msg: 'Duplicate registration detected.' },
      });
    });

    it('can repeat a registration without a second invitation', async () => {
      const form = newServer({ invitation: await relay.invite() });
      expect((await relay.join(form)).body).toEqual(created);
      expect((await relay.join(form)).body).toEqual(updated);
    });

    it.each(['hostname', 'serverId'] as const)('needs no code if the invitation names its %s', async (by) => {
      const form = newServer();
      await relay.invite(by === 'hostname' ? { hostname: form.hostname } : { serverId: form.zulip_org_id });
      expect((await relay.join(newServer())).status).toBe(400);
      expect((await relay.join(form)).body).toEqual(created);
      const again = {
        ...newServer(),
        [by === 'hostname' ? 'hostname' : 'zulip_org_id']: form.hostname ?? '',
      };
      expect((await relay.join(again)).status).toBe(400);
    });

    it.each([
      ['no invitation', async () => undefined, 'admits new servers by invitation'],
      ['an unknown invitation', async () => newKey(), 'The invitation is unknown, used, expired'],
      ['an expired invitation', () => relay.invite({ expiresAt: relay.time.now }), 'expired'],
      [
        'an invitation for another host',
        () => relay.invite({ hostname: 'other.example.org' }),
        'for another server',
      ],
      [
        'an invitation for another server',
        () => relay.invite({ serverId: randomUUID() }),
        'for another server',
      ],
    ])('is refused with %s', async (_what, inviteOf, sentence) => {
      const invitation = await inviteOf();
      const form = newServer(invitation === undefined ? {} : { invitation });
      const { status, body } = await relay.join(form);
      expect([status, body.code, body.msg]).toEqual([400, 'BAD_REQUEST', expect.stringContaining(sentence)]);
      expect(await relay.server(form.zulip_org_id)).toBeUndefined();
    });

    it('is refused if another server uses the same invitation concurrently', async () => {
      const invitation = await relay.invite();
      const answers = await Promise.all([1, 2].map(() => relay.join(newServer({ invitation }))));
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 400]);
    });

    it('is refused if another server claims the same host concurrently', async () => {
      const hostname = 'contested.example.org';
      const forms = [newServer({ hostname }), newServer({ hostname })];
      const invited = await Promise.all(
        forms.map(async (form) => ({ ...form, invitation: await relay.invite() })),
      );
      const answers = await Promise.all(invited.map((form) => relay.join(form)));
      expect(answers.map(({ body }) => body.code).sort()).toEqual([
        'HOSTNAME_ALREADY_IN_USE_BOUNCER_ERROR',
        undefined,
      ]);
    });
  });

  describe('an invalid form', () => {
    const wrong = {
      hostname: 'chat.example.org/path',
      contact_email: 'nobody',
      zulip_org_id: '00000000-0000-1000-8000-000000000000',
    };
    it.each([
      [wrong, 'chat.example.org/path contains invalid components (e.g., path, query, fragment).'],
      [{ ...wrong, hostname: 'a b' }, 'a b is not a valid hostname'],
      [{ ...wrong, hostname: 'user@chat.example.org' }, 'user@chat.example.org is not a valid hostname'],
      [{ ...wrong, hostname: 'chat.example.org:99999' }, 'chat.example.org:99999 is not a valid hostname'],
      [
        { ...wrong, hostname: 'a.example.org' },
        'Invalid server administrator email address: Enter a valid email address.',
      ],
      [
        { ...wrong, hostname: 'a.example.org', contact_email: 'zulip-admin@example.com' },
        'Invalid server administrator email address: Invalid email address.',
      ],
      [{ zulip_org_id: wrong.zulip_org_id }, 'Invalid UUID'],
      [{ zulip_org_id: randomUUID().toUpperCase() }, 'Invalid UUID'],
    ])('is checked in the documented order: %j: %s', async (changes, msg) => {
      const { status, body } = await relay.join(newServer(changes));
      expect({ status, code: body.code, msg: body.msg }).toEqual({ status: 400, code: 'BAD_REQUEST', msg });
    });

    it.each([
      ['zulip_org_id', 'x'],
      ['zulip_org_key', 'k'.repeat(63)],
      ['zulip_org_key', `${'k'.repeat(63)}:`],
      ['new_org_key', 'k'.repeat(65)],
      ['hostname', 'h'.repeat(129)],
      ['contact_email', `${'a'.repeat(250)}@example.org`],
      ['invitation', 'i'.repeat(201)],
    ])('is refused if %s has a wrong length or wrong characters', async (name, text) => {
      const { status, body } = await relay.join(newServer({ [name]: text }));
      expect([status, body.code, body.msg]).toEqual([
        400,
        'BAD_REQUEST',
        expect.stringMatching(`^Invalid ${name}: `),
      ]);
    });

    it('is refused if its host differs only in spelling from a registered host', async () => {
      await joined({ hostname: 'Spelled.Example.org.:443' });
      for (const hostname of ['spelled.example.org', 'SPELLED.example.org:443', 'spelled.example.org.']) {
        const { body } = await relay.join(newServer({ hostname, invitation: await relay.invite() }));
        expect(body).toMatchObject({ code: 'HOSTNAME_ALREADY_IN_USE_BOUNCER_ERROR' });
      }
      const other = newServer({ hostname: 'spelled.example.org:8443', invitation: await relay.invite() });
      expect((await relay.join(other)).body).toEqual(created);
    });
  });

  describe('a known server', () => {
    it('changes its hostname and contact address', async () => {
      const form = await joined();
      const changes = { hostname: 'moved.example.org', contact_email: 'new@example.org' };
      expect((await relay.join({ ...form, ...changes })).body).toEqual(updated);
      expect(await relay.server(form.zulip_org_id)).toMatchObject(changes);
    });

    it('is refused with a wrong key, regardless of its other values', async () => {
      const { zulip_org_id = '', hostname } = await joined();
      const form = newServer({ zulip_org_id, invitation: await relay.invite() });
      expect(await relay.join(form)).toMatchObject({
        status: 400,
        body: {
          code: 'INVALID_ZULIP_SERVER',
          msg: `Zulip server auth failure: key does not match role ${zulip_org_id}`,
          role: zulip_org_id,
        },
      });
      expect(await relay.server(zulip_org_id)).toMatchObject({ hostname });
    });

    it('must not take the host of another server', async () => {
      const [one, other] = [await joined(), await joined()];
      const { hostname = '' } = other;
      expect(await relay.join({ ...one, hostname })).toMatchObject({
        status: 400,
        body: {
          code: 'HOSTNAME_ALREADY_IN_USE_BOUNCER_ERROR',
          msg: `A server with hostname ${hostname} already exists`,
        },
      });
      expect(await relay.server(one.zulip_org_id)).toMatchObject({ hostname: one.hostname });
    });

    it('is refused while it is suspended', async () => {
      const form = await joined();
      await suspendServer(relay.database, form.zulip_org_id ?? '', relay.time.now);
      expect(await relay.join(form)).toMatchObject({
        status: 401,
        body: { code: 'UNAUTHORIZED', msg: expect.stringContaining('has suspended your server') },
      });
    });

    it('can register with the key that the operator gave it', async () => {
      const { serverId, serverKey } = relay.otherServer;
      const form = newServer({ zulip_org_id: serverId, zulip_org_key: serverKey.reveal() });
      expect((await relay.join(form)).body).toEqual(updated);
      expect(await relay.server(serverId)).toMatchObject({ name: 'other', hostname: form.hostname });
    });
  });

  it('an address is limited to 30 registrations a minute, and other addresses are served', async () => {
    const statuses = new Map<number, number>();
    for (let request = 0; request < 1000; request += 1) {
      const { status, retryAfter } = await relay.join(newServer(), '192.0.2.1');
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
      if (status === 503) expect(Number(retryAfter)).toBeGreaterThan(0);
    }
    expect(Object.fromEntries(statuses)).toEqual({ 400: 30, 503: 970 });
    // Only a malformed form is refused before the rate limit.
    expect((await relay.join(newServer({ hostname: 'a b' }), '192.0.2.1')).status).toBe(503);
    expect((await relay.join(newServer({ zulip_org_id: 'x' }), '192.0.2.1')).status).toBe(400);
    const form = newServer({ invitation: await relay.invite() });
    expect((await relay.join(form, '192.0.2.2')).body).toEqual(created);
    const text = await relay.context.metrics.text();
    expect(text).toMatch(/waxwing_server_registrations_total\{outcome="rate-limited"\} 971\n/);
    expect(text).toMatch(/waxwing_server_registrations_total\{outcome="created"\} \d+\n/);
    expect(text).not.toContain('example.org');
  });

  it('the log contains no key, code or contact address', async () => {
    const form = newServer({ invitation: await relay.invite(), new_org_key: newKey() });
    await relay.join(form);
    for (const secret of [form.zulip_org_key, form.new_org_key, form.invitation, form.contact_email]) {
      expect(relay.logged()).not.toContain(secret);
    }
    expect(relay.logged()).toContain(form.zulip_org_id);
  });
});

eachBackend((backend) => {
  it('an open relay accepts servers without an invitation, up to a daily limit', async () => {
    const relay = await startJoiningUnderTest(await backend.freshUrl(), {
      RELAY_SERVER_REGISTRATION: 'open',
    });
    try {
      expect((await relay.join(newServer())).body).toEqual(created);
      expect((await relay.join(newServer({ invitation: newKey() }))).body.msg).toContain('unknown');
      const many = Array.from({ length: maximumNewServersPerDay }, () => ({
        id: randomUUID(),
        name: '',
        key_hash: '',
        created_at: relay.time.now,
      }));
      await relay.database.db.insertInto('servers').values(many).execute();
      expect(await relay.join(newServer())).toMatchObject({ status: 503, body: { code: 'RATE_LIMIT_HIT' } });
      relay.time.now += 86_400_000;
      expect((await relay.join(newServer())).body).toEqual(created);
    } finally {
      await relay.close();
    }
  });

  it('a closed relay accepts no new servers, but known servers rotate their keys', async () => {
    const relay = await startJoiningUnderTest(await backend.freshUrl(), {
      RELAY_SERVER_REGISTRATION: 'closed',
    });
    try {
      const { body } = await relay.join(newServer({ invitation: await relay.invite() }));
      expect(body.msg).toBe(
        'This relay accepts no new servers automatically: ask its operator to add yours.',
      );
      const { serverId, serverKey } = relay.otherServer;
      const form = newServer({ zulip_org_id: serverId, zulip_org_key: serverKey.reveal() });
      expect((await relay.join({ ...form, new_org_key: newKey() })).body).toEqual(updated);
    } finally {
      await relay.close();
    }
  });
});
