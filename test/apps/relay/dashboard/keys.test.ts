import { afterEach, beforeEach, expect, it } from 'vitest';
import { eachBackend } from '../../../support/test-databases.js';
import { goodForm } from '../relay-under-test.js';
import { type DashboardUnderTest, startDashboard } from './dashboard-under-test.js';

interface ShownKey {
  readonly id: string;
  readonly state: string;
  readonly use_per_day: { readonly registrations: number }[];
}

eachBackend((backend) => {
  let dashboard: DashboardUnderTest;
  let cookie: string;
  beforeEach(async () => {
    dashboard = await startDashboard(await backend.freshUrl());
    cookie = await dashboard.session();
  });
  afterEach(() => dashboard.close());

  const get = async (path: string) => dashboard.ask('GET', `/admin/api/keys${path}`, { cookie });
  const post = (path: string, payload: object = {}) =>
    dashboard.ask('POST', `/admin/api/keys${path}`, { cookie, payload });
  const keys = async (): Promise<ShownKey[]> => (await get('')).json().keys;
  const only = (all: readonly ShownKey[], state: string) => {
    const found = all.find((key) => key.state === state);
    if (found === undefined) throw new Error(`there is no ${state} key`);
    return found;
  };

  it('shows the state, dates and use of each key, but no private half', async () => {
    expect((await dashboard.relay.register(goodForm())).status).toBe(200);
    const answer = await get('');
    const { now } = dashboard.relay.time;
    expect(answer.json()).toMatchObject({
      now,
      list_expires_at: now + 30 * 86_400_000,
      signing_key: { fingerprint: expect.stringMatching(/^[0-9a-f]{12}$/), since: expect.any(Number) },
    });
    const shown: ShownKey[] = answer.json().keys;
    expect(only(shown, 'primary')).toMatchObject({ primary_from: now, open_until: null });
    const used = shown.map(({ use_per_day }) => use_per_day.reduce((sum, day) => sum + day.registrations, 0));
    expect(used.reduce((sum, count) => sum + count, 0)).toBe(1);
    expect(shown[0]?.use_per_day).toHaveLength(30);
    expect(answer.body).not.toMatch(/private/);
  });

  it('rotates the key', async () => {
    const before = only(await keys(), 'primary');
    const answer = await post('/rotate');
    expect(answer.statusCode).toBe(200);
    const after: ShownKey[] = answer.json().keys;
    expect(only(after, 'primary').id).not.toBe(before.id);
    expect(after.find(({ id }) => id === before.id)?.state).toBe('open');
    expect(await keys()).toEqual(after);
  });

  it('retires a key that phones still use only with force, and shows whether retirement is safe', async () => {
    await dashboard.relay.register(goodForm());
    const all = await keys();
    const isUsed = ({ use_per_day }: ShownKey) => use_per_day.some(({ registrations }) => registrations > 0);
    const used = all.find(isUsed);
    const unused = all.find((key) => key.state === 'open' && !isUsed(key));
    const safety = async (id?: string) => (await get(`/${id}/retirement`)).json();
    expect(await safety(unused?.id)).toMatchObject({
      safe: true,
      explanation: `Key ${unused?.id} opened no registration in the last 60 days.`,
    });
    expect(await safety(used?.id)).toMatchObject({
      safe: false,
      explanation: expect.stringMatching(/opened 1 registration in the last 60 days/),
    });
    expect(await safety(only(all, 'primary').id)).toMatchObject({
      safe: false,
      explanation: expect.stringContaining('is the primary key: rotate first'),
    });
    const refusal = await post(`/${used?.id}/retire`);
    expect([refusal.statusCode, refusal.json().msg]).toEqual([
      409,
      expect.stringContaining('opened 1 registration'),
    ]);
    const stateOf = async (id?: string) => (await keys()).find((key) => key.id === id)?.state;
    expect(await stateOf(used?.id)).toBe('open');
    expect((await post(`/${used?.id}/retire`, { force: true })).statusCode).toBe(200);
    expect(await stateOf(used?.id)).toBe('retired');
    expect((await post(`/${unused?.id}/retire`)).statusCode).toBe(200);
    expect((await dashboard.relay.register(goodForm())).body.code).toBe('INVALID_BOUNCER_PUBLIC_KEY');
  });

  it('revokes a key with a reason', async () => {
    const before = only(await keys(), 'primary');
    expect((await post(`/${before.id}/revoke`)).json().code).toBe('BAD_REQUEST');
    const answer = await post(`/${before.id}/revoke`, { reason: 'a laptop was stolen' });
    expect(answer.statusCode).toBe(200);
    expect((await keys()).find(({ id }) => id === before.id)?.state).toBe('revoked');
    expect((await post(`/${before.id}/revoke`, { reason: 'again' })).statusCode).toBe(409);
    const { entries } = (await dashboard.ask('GET', '/admin/api/audit', { cookie })).json();
    expect(entries).toMatchObject([
      {
        actor: 'dashboard',
        action: 'keys revoke --compromised',
        subject: 'key ring',
        detail: expect.stringMatching(/^a laptop was stolen; /),
      },
    ]);
  });

  it('rejects unknown and malformed ids, requests without a session, and requests from other sites', async () => {
    expect((await get('/0123456789ab/retirement')).json().safe).toBe(false);
    expect((await get('/x/retirement')).json().code).toBe('BAD_REQUEST');
    expect((await post('/x/retire')).json().code).toBe('BAD_REQUEST');
    const { id } = only(await keys(), 'primary');
    for (const reason of ['x'.repeat(201), 'a laptop\0', '\udc00 was stolen']) {
      const refusal = await post(`/${id}/revoke`, { reason });
      expect([refusal.statusCode, refusal.json().code]).toEqual([400, 'BAD_REQUEST']);
    }
    expect((await dashboard.ask('GET', '/admin/api/keys')).statusCode).toBe(401);
    expect((await dashboard.ask('POST', '/admin/api/keys/rotate')).statusCode).toBe(401);
    const headers = { 'sec-fetch-site': 'cross-site' };
    const foreign = await dashboard.ask('POST', '/admin/api/keys/rotate', { cookie, headers });
    expect(foreign.statusCode).toBe(403);
    expect((await keys()).filter(({ state }) => state === 'primary')).toHaveLength(1);
  });
});
