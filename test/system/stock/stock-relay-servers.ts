import { randomBytes, randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

export interface Answer {
  readonly status: number;
  readonly body: object | string;
}

export const serverError: Answer = { status: 500, body: '<!doctype html><h1>Server Error (500)</h1>' };
export const success = (fields: object = {}): Answer => ({
  status: 200,
  body: { result: 'success', msg: '', ...fields },
});
export const refusal = (status: number, code: string, msg: string, more: object = {}): Answer => ({
  status,
  body: { result: 'error', msg, code, ...more },
});
const badRequest = (msg: string): Answer => refusal(400, 'BAD_REQUEST', msg);
const unauthorized = (msg: string): Answer => refusal(401, 'UNAUTHORIZED', msg);

interface StockRemoteServer {
  key: string;
  hostname: string;
  contactEmail: string;
  isDeactivated: boolean;
}

const base = '/api/v1/remotes/server/';
const uuidV4 = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const challengeMilliseconds = 10_000;
const deactivated = 'The mobile push notification service registration for your server has been deactivated';
const realmFields: Readonly<Record<string, (value: unknown) => boolean>> = {
  id: Number.isInteger,
  uuid: (value) => uuidV4.test(String(value)),
  uuid_owner_secret: (value) => typeof value === 'string',
  host: (value) => typeof value === 'string',
  url: (value) => typeof value === 'string',
  name: (value) => typeof value === 'string',
  org_type: Number.isInteger,
  date_created: (value) => typeof value === 'number',
  deactivated: (value) => typeof value === 'boolean',
  is_system_bot_realm: (value) => typeof value === 'boolean',
  authentication_methods: (value) => typeof value === 'object' && value !== null,
};

/** The servers of a stock relay. They join, move to another host, report their realms, and leave. */
export class StockRelayServers {
  /** Servers by `zulip_org_id`. */
  readonly known = new Map<string, StockRemoteServer>();
  /** Server of each realm, by the realm's UUID. */
  readonly realms = new Map<string, string>();
  /** The push status that the relay reports for each organization. */
  pushStatus = { can_push: true, expected_end_timestamp: null };
  readonly #challenges = new Map<string, { readonly hostname: string; readonly at: number }>();
  readonly #clock: () => number;

  constructor(clock: () => number) {
    this.#clock = clock;
  }

  /** Returns the id of the authenticated server, or the response if authentication fails. */
  authenticate(authorization: string | undefined): string | Answer {
    if (authorization === undefined) return unauthorized('Missing authorization header for basic auth');
    if (!authorization.startsWith('Basic ')) {
      return badRequest('This endpoint requires HTTP basic authentication.');
    }
    const [id = '', key = ''] = Buffer.from(authorization.slice(6), 'base64').toString('utf8').split(':');
    const failed = 'Zulip server auth failure:';
    const server = this.known.get(id);
    if (server === undefined) {
      return unauthorized(`${failed} ${id} is not registered -- did you run \`manage.py register_server\`?`);
    }
    if (key !== server.key) return unauthorized(`${failed} key does not match role ${id}`);
    return server.isDeactivated ? unauthorized(deactivated) : id;
  }

  /** Handles servers' requests about themselves. Resolves to `undefined` for any other path. */
  async answer(
    method: string,
    path: string,
    headers: IncomingMessage['headers'],
    body: string,
  ): Promise<Answer | undefined> {
    if (!path.startsWith(base)) return undefined;
    const name = path.slice(base.length);
    const form = new URLSearchParams(body);
    if (method === 'POST' && name === 'register') return this.#register(form);
    if (method === 'POST' && name === 'register/transfer') return this.#challenge(form);
    if (method === 'POST' && name === 'register/verify_challenge') return this.#verify(form);
    const serverId = this.authenticate(headers.authorization);
    if (typeof serverId !== 'string') return serverId;
    if (method === 'POST' && name === 'deactivate') return this.#deactivate(serverId, headers, body);
    if (method === 'POST' && name === 'analytics') return this.#report(serverId, form);
    if (method === 'GET' && name === 'analytics/status') {
      return success({ last_realm_count_id: 0, last_installation_count_id: 0, last_realmauditlog_id: 0 });
    }
    return undefined;
  }

  #register(form: URLSearchParams): Answer {
    const required = ['zulip_org_id', 'zulip_org_key', 'hostname', 'contact_email'];
    const missing = required.find((name) => !form.has(name));
    if (missing !== undefined) {
      const more = { var_name: missing };
      return refusal(400, 'REQUEST_VARIABLE_MISSING', `Missing '${missing}' argument`, more);
    }
    const [id, key, hostname, contactEmail] = required.map((name) => form.get(name) ?? '') as [
      ...[string, string, string, string],
    ];
    if (key.length !== 64) return badRequest('zulip_org_key has the wrong length');
    if (!/^[\w.-]+(?::\d+)?$/.test(hostname)) return badRequest(`${hostname} is not a valid hostname`);
    if (!/^[^@\s]+@(?!example\.com$)[^@\s]+$/.test(contactEmail)) {
      return badRequest('Invalid server administrator email address: Invalid email address.');
    }
    if (!uuidV4.test(id)) return badRequest('Invalid UUID');
    const server = this.known.get(id);
    if (server === undefined) {
      if (this.#serverOf(hostname) !== undefined) {
        const msg = `A server with hostname ${hostname} already exists`;
        return refusal(400, 'HOSTNAME_ALREADY_IN_USE_BOUNCER_ERROR', msg);
      }
      this.known.set(id, { key, hostname, contactEmail, isDeactivated: false });
      return success({ created: true });
    }
    if (key !== server.key) {
      const msg = `Zulip server auth failure: key does not match role ${id}`;
      return refusal(400, 'INVALID_ZULIP_SERVER', msg, { role: id });
    }
    if (server.isDeactivated) return unauthorized(deactivated);
    Object.assign(server, { key: form.get('new_org_key') ?? key, hostname, contactEmail });
    return success({ created: false });
  }

  #challenge(form: URLSearchParams): Answer {
    const hostname = form.get('hostname') ?? '';
    const id = this.#serverOf(hostname);
    if (id === undefined) return badRequest(`${hostname} not yet registered`);
    if (this.known.get(id)?.isDeactivated) return unauthorized(deactivated);
    const secret = randomBytes(32).toString('hex').toUpperCase();
    this.#challenges.set(secret, { hostname, at: this.#clock() });
    return success({ verification_secret: secret });
  }

  /**
   * Requests the secret from the host as the stock relay does, but without TLS, because the tests' hosts are on
   * loopback.
   */
  async #verify(form: URLSearchParams): Promise<Answer> {
    const hostname = form.get('hostname') ?? '';
    const id = this.#serverOf(hostname);
    const server = id === undefined ? undefined : this.known.get(id);
    if (server === undefined) return badRequest('Registration not found for this hostname');
    const path = `/api/v1/zulip-services/verify/${form.get('access_token')}/`;
    const response = await fetch(`http://${hostname}${path}`);
    const answer = (await response.json()) as { code?: string; verification_secret?: string };
    if (answer.code === 'REMOTE_SERVER_VERIFICATION_SECRET_NOT_PREPARED') {
      return badRequest('The host reported it has no verification secret.');
    }
    if (response.status !== 200) {
      return badRequest(`Error response received from the host: ${response.status}`);
    }
    const challenge = this.#challenges.get(answer.verification_secret ?? '');
    if (challenge === undefined) return badRequest('The verification secret is invalid');
    if (this.#clock() - challenge.at > challengeMilliseconds) {
      return badRequest('The verification secret has expired');
    }
    if (challenge.hostname !== hostname) {
      return badRequest('The verification secret is for a different hostname');
    }
    server.key = randomBytes(32).toString('hex');
    return success({ zulip_org_id: id, zulip_org_key: server.key });
  }

  #deactivate(serverId: string, headers: IncomingMessage['headers'], body: string): Answer {
    if (headers['content-type'] !== 'application/json' || body !== '{}') return serverError;
    Object.assign(this.known.get(serverId) ?? {}, { isDeactivated: true });
    return success();
  }

  /** Handles an hourly report. Refuses unknown fields, like the stock relay of this version. */
  #report(serverId: string, form: URLSearchParams): Answer {
    for (const name of ['realm_counts', 'installation_counts']) {
      if (!form.has(name)) return refusal(400, 'REQUEST_VARIABLE_MISSING', `Missing '${name}' argument`);
    }
    const realms = JSON.parse(form.get('realms') ?? '[]') as Record<string, unknown>[];
    for (const realm of realms) {
      const names = new Set([...Object.keys(realm), ...Object.keys(realmFields)]);
      const wrong = [...names].find((name) => realmFields[name]?.(realm[name]) !== true);
      if (wrong !== undefined) return badRequest(`realms[0]["${wrong}"] is wrong`);
      const owner = this.realms.get(String(realm.uuid)) ?? serverId;
      if (owner !== serverId) return badRequest('Duplicate registration detected.');
    }
    for (const { uuid } of realms) this.realms.set(String(uuid), serverId);
    return success({ realms: Object.fromEntries(realms.map(({ uuid }) => [uuid, this.pushStatus])) });
  }

  #serverOf(hostname: string): string | undefined {
    for (const [id, server] of this.known) if (server.hostname === hostname) return id;
    return undefined;
  }
}

/** A server that was already registered before the test. */
export function knownServer(serverKey: string): StockRemoteServer {
  return { key: serverKey, hostname: `${randomUUID()}.test`, contactEmail: 'a@b.test', isDeactivated: false };
}
