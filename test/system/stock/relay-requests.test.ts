import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type RelayReaction, RelayStandIn, refused } from '../../support/relay-stand-in.js';
import { askRelay, RelayFailure } from './relay-requests.js';
import { StockServer } from './stock-server.js';

// Checks the section "Reading the relay's answers" in docs/protocol.md with requests of stock servers.

const credentials = { serverId: '6cde5f7a-1f7e-4978-9716-49f69ebfc9fe', serverKey: 'k'.repeat(64) };
let relay: RelayStandIn;

beforeAll(async () => {
  relay = await RelayStandIn.start();
});
afterAll(() => relay.close());

async function outcomeOf(endpoint: string, reaction: RelayReaction): Promise<string> {
  relay.next(reaction);
  const isSilent = reaction === 'silence';
  const options = { relayUrl: relay.url, credentials, ...(isSilent && { timeoutMilliseconds: 200 }) };
  try {
    await askRelay(options, 'POST', endpoint, { form: { realm_uuid: 'x' } });
    return 'success';
  } catch (error) {
    if (!(error instanceof RelayFailure)) throw error;
    return error.kind === 'named' ? `named ${error.code}` : error.kind;
  }
}

describe('the simulated stock server', () => {
  it('sends credentials, its version and a form', async () => {
    await outcomeOf('push/e2ee/register', { status: 200, body: {} });
    expect(relay.requests.at(-1)).toMatchObject({
      method: 'POST',
      path: '/api/v1/remotes/push/e2ee/register',
      body: 'realm_uuid=x',
      headers: {
        authorization: `Basic ${btoa(`${credentials.serverId}:${credentials.serverKey}`)}`,
        'content-type': 'application/x-www-form-urlencoded',
        'user-agent': 'ZulipServer/12.1',
      },
    });
  });

  const [register, notify, analytics] = ['push/e2ee/register', 'push/e2ee/notify', 'server/analytics'];
  it.each([
    ['success', register, { status: 200, body: { result: 'success' } }],
    ['connection', register, 'cut'],
    ['connection', register, 'silence'],
    ['server', register, { status: 503, body: '<html>' }],
    ['configuration', register, { status: 204 }],
    ['configuration', register, { status: 302, headers: { location: '/' } }],
    ['unhandled', register, { status: 200, body: 'no JSON' }],
    ['unhandled', register, { status: 404, body: '<html>' }],
    ['unhandled', register, { status: 400, body: { result: 'error' } }],
    ['configuration', register, refused(400, 'INVALID_ZULIP_SERVER')],
    ['disallowed', notify, refused(400, 'PUSH_NOTIFICATIONS_DISALLOWED')],
    ['named INVALID_BOUNCER_PUBLIC_KEY', register, refused(400, 'INVALID_BOUNCER_PUBLIC_KEY')],
    ['named REQUEST_EXPIRED', register, refused(400, 'REQUEST_EXPIRED')],
    ['named MISSING_REMOTE_REALM', register, refused(403, 'MISSING_REMOTE_REALM')],
    ['named MISSING_REMOTE_REALM', notify, refused(403, 'MISSING_REMOTE_REALM')],
    ['refused', analytics, refused(403, 'MISSING_REMOTE_REALM')],
    ['refused', notify, refused(400, 'REQUEST_EXPIRED')],
    ['refused', register, refused(401, 'UNAUTHORIZED')],
    ['refused', register, refused(429, 'RATE_LIMIT_HIT')],
    ['refused', register, refused(403, 'REMOTE_REALM_SERVER_MISMATCH_ERROR')],
  ] as const)('treats as %s, at %s, the response %j', async (kind, endpoint, reaction) => {
    expect(await outcomeOf(endpoint, reaction)).toBe(kind);
  });

  it.each([
    [true, { status: 503, body: 'x' }, undefined],
    [false, 'cut', undefined],
    [false, refused(401, 'UNAUTHORIZED'), undefined],
    [false, { status: 200, body: 'no JSON' }, undefined],
    [true, 'cut', 3_599_999],
    [false, 'cut', 3_600_000],
  ] as const)(
    'leaves push on (%s) after the response %j to its hourly report, %s ms after a successful push',
    async (isPushOn, reaction, millisecondsAgo) => {
      const realm = { uuid: '9aa61d0b-8ce5-488d-8e9e-fedc346e6836', url: 'https://a.example', name: 'A' };
      const server = new StockServer({ relayUrl: relay.url, credentials, realm, clock: () => 1e12 });
      if (millisecondsAgo !== undefined) server.report.lastSuccessAt = 1e12 - millisecondsAgo;
      relay.next(reaction);
      await server.reportHourly();
      expect(server.isPushOn).toBe(isPushOn);
    },
  );
});
