import { randomUUID } from 'node:crypto';
import { type HostNetwork, systemHostNetwork } from '#relay/servers/joining/ask-host.js';
import { createInvitation, type NewInvitation } from '#relay/servers/joining/invitations.js';
import { basic, type RelayUnderTest, startRelayUnderTest } from '../relay-under-test.js';

export interface JoiningAnswer {
  readonly status: number;
  readonly body: Record<string, unknown>;
  readonly retryAfter: unknown;
}

let joined = 0;

/** Returns a new key of 64 letters and digits. */
export const newKey = (): string => (randomUUID() + randomUUID()).replaceAll('-', '').padEnd(64, 'K');

/** Returns the form for a new server with a unique hostname. */
export function newServer(changes: Record<string, string> = {}): Record<string, string> {
  joined += 1;
  return {
    zulip_org_id: randomUUID(),
    zulip_org_key: newKey(),
    hostname: `chat${joined}.example.org`,
    contact_email: 'admin@example.org',
    ...changes,
  };
}

/** Starts a relay that servers can join, with functions for their requests. */
export async function startJoiningUnderTest(
  databaseUrl: string,
  environment: Record<string, string> = {},
  hostNetwork: HostNetwork = systemHostNetwork({ trusted: undefined }),
) {
  const relay = await startRelayUnderTest(databaseUrl, environment, { hostNetwork });
  const post = (path: string, form: Record<string, string>, remoteAddress?: string) =>
    ask(relay, `server/${path}`, { form, remoteAddress });
  return {
    ...relay,
    post,
    join: (form: Record<string, string>, remoteAddress?: string) => post('register', form, remoteAddress),

    /** Creates an invitation that is valid for a minute. Returns its code. */
    async invite(changes: Partial<NewInvitation> = {}): Promise<string> {
      const now = relay.time.now;
      const invitation = { name: 'Invited', expiresAt: now + 60_000, ...changes };
      return (await createInvitation(relay.database, invitation, now)).reveal();
    },

    /** Returns the HTTP status of a request with the server's credentials. */
    async statusOf({ zulip_org_id = '', zulip_org_key = '' }: Record<string, string>): Promise<number> {
      const authorization = basic(zulip_org_id, zulip_org_key);
      return (await ask(relay, 'server/analytics/status', { authorization })).status;
    },

    async report({ zulip_org_id = '', zulip_org_key = '' }: Record<string, string>, realms: string[]) {
      const authorization = basic(zulip_org_id, zulip_org_key);
      const form = {
        realm_counts: '[]',
        installation_counts: '[]',
        realms: JSON.stringify(realms.map((uuid) => ({ uuid, asks_to_advertise: false }))),
        unknown_to_this_relay: '1',
      };
      return ask(relay, 'server/analytics', { form, authorization });
    },

    server: (id = '') =>
      relay.database.db.selectFrom('servers').selectAll().where('id', '=', id).executeTakeFirst(),
  };
}

export type JoiningUnderTest = Awaited<ReturnType<typeof startJoiningUnderTest>>;

interface AskOptions {
  readonly form?: Record<string, string>;
  readonly authorization?: string;
  readonly remoteAddress?: string | undefined;
}

async function ask(
  { app }: Pick<RelayUnderTest, 'app'>,
  path: string,
  { form, authorization, remoteAddress }: AskOptions,
): Promise<JoiningAnswer> {
  const answer = await app.inject({
    method: form === undefined ? 'GET' : 'POST',
    url: `/api/v1/remotes/${path}`,
    headers: {
      ...(authorization !== undefined && { authorization }),
      ...(form !== undefined && { 'content-type': 'application/x-www-form-urlencoded' }),
    },
    ...(form !== undefined && { payload: new URLSearchParams(form).toString() }),
    ...(remoteAddress !== undefined && { remoteAddress }),
  });
  return { status: answer.statusCode, body: answer.json(), retryAfter: answer.headers['retry-after'] };
}
