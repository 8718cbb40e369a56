import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  formatPushAccountId,
  type PushAccountId,
  parseJson,
  type RelayDeviceId,
  relayNotifyPath,
  relayReceiptsPath,
  stringifyJson,
  type TokenId,
  type TokenKind,
} from '@waxwing/protocol';
import { createRelay, readRelayEnvironment } from '@waxwing/relay';
import { readinessAnswer } from '@waxwing/service/http';
import type { Clock } from '@waxwing/service/lifecycle';
import type { Log } from '@waxwing/service/logging';
import { startVendors, type Vendors } from '@waxwing/vendors';
import { type DeliveryTimings, productionTimings } from '#relay/deliveries/delivery-timings.js';
import { type Addressee, addresseeOfToken, computeTokenId } from '#relay/registrations/store/addressee.js';
import { bindingOfToken } from '#relay/registrations/store/token-vault.js';
import { addServer } from '#relay/servers/manage-servers.js';
import type { RealmId } from '#relay/servers/server-tables.js';
import { createMemoryLog } from '../../../support/memory-log.js';
import { withoutOverload } from '../../../support/no-overload.js';
import { readStatistics } from '../../vendors/vendor-statistics.js';
import { type RingOnDisk, ringOnDisk } from '../keyring/ring-material.js';
import type { NotifyAnswer, VendorDelivery } from './delivery-answers.js';

export const realmUuid = '9aa61d0b-8ce5-488d-8e9e-fedc346e6836';
export const topic = 'org.example.App';
export const encryptedData = Buffer.alloc(700, 7).toString('base64');
/** Account id above 2^53, so that a test notices rounding. */
export const pushAccountId = 9_007_199_254_740_993n as PushAccountId;

/** Stand-ins that may run in another process. */
export type RunningVendors = Pick<Vendors, 'urls' | 'credentials'>;

export interface UnderTestOptions {
  readonly timings?: Partial<DeliveryTimings>;
  readonly clock?: Clock;
  /** Default: the clock. */
  readonly monotonic?: Clock;
  /** Additional RELAY_ variables; `undefined` removes a variable. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
  /** Returns the content of the apps file. Default: {@link appsFor}. */
  readonly apps?: (vendors: RunningVendors) => object;
  /** Stand-ins that already run. Default: new stand-ins for this relay. */
  readonly vendors?: RunningVendors;
  /** Default: a new SQLite file. */
  readonly databaseUrl?: string;
  /** Default: a log in memory, at the most verbose level. */
  readonly log?: Log;
  /** Data folder of an earlier relay, for a restart with the same data. */
  readonly dir?: string;
  /** Key ring of an earlier relay or of another running relay. Default: a new ring. */
  readonly ring?: RingOnDisk;
}
export type DeliveriesUnderTest = Awaited<ReturnType<typeof startDeliveriesUnderTest>>;

/** Timeout of {@link until}. Long enough for a machine that stalls for seconds, but shorter than a test's timeout. */
const patienceMilliseconds = 50_000;

/** Production timings with delays divided by a thousand. */
const quickTimings: DeliveryTimings = { ...productionTimings, delayDivisor: 1000 };

export function appsFor({ credentials }: RunningVendors): { fcm: object[]; apns: object[] } {
  const { serviceAccountFile, apnsTeamId, apnsKeyId, apnsKeyFile } = credentials;
  return {
    fcm: [{ service_account_file: serviceAccountFile }],
    apns: [{ team_id: apnsTeamId, key_id: apnsKeyId, key_file: apnsKeyFile, topics: '*' }],
  };
}

/** Starts a relay that serves one server and delivers to the stand-ins for FCM and APNs. */
export async function startDeliveriesUnderTest(options: UnderTestOptions = {}) {
  const dir = options.dir ?? mkdtempSync(join(tmpdir(), 'waxwing-deliveries-'));
  const clock = options.clock ?? (() => Date.now());
  const own = options.vendors ? undefined : await startVendors({ dataDir: join(dir, 'vendors'), clock });
  const vendors = (options.vendors ?? own) as RunningVendors;
  const appsFile = join(dir, 'apps.json');
  const writeApps = (apps: object) => writeFileSync(appsFile, JSON.stringify(apps), { mode: 0o600 });
  writeApps((options.apps ?? appsFor)(vendors));
  const ring = options.ring ?? (await ringOnDisk(undefined, clock));
  const read = readRelayEnvironment({
    ...ring.environment,
    RELAY_DATABASE: options.databaseUrl ?? `sqlite:${join(dir, 'relay.sqlite')}`,
    RELAY_APPS_FILE: appsFile,
    RELAY_FCM_BASE_URL: vendors.urls.fcm,
    RELAY_APNS_PRODUCTION_URL: vendors.urls.apnsProduction,
    RELAY_APNS_SANDBOX_URL: vendors.urls.apnsSandbox,
    RELAY_APNS_CA_FILE: vendors.credentials.caFile,
    ...options.environment,
  });
  const configuration = { ...read, http: withoutOverload(read.http) };
  const { log: memoryLog, text, lines } = createMemoryLog();
  const { log = memoryLog } = options;
  const timings = { ...quickTimings, ...options.timings };
  const { monotonic = clock } = options;
  const relay = await createRelay(configuration, { log, clock, monotonic, timings });
  const { app, context, metrics, readiness } = relay;
  const { database, deliveries, tokenVault } = context;
  const known = await database.db
    .selectFrom('realms')
    .select('id')
    .where('uuid', '=', realmUuid)
    .executeTakeFirst();
  const server =
    known === undefined
      ? await addServer(database, { name: 'ours', realmUuids: [realmUuid] }, clock())
      : undefined;
  const credentials = server && `${server.serverId}:${server.serverKey.reveal()}`;
  const authorization = `Basic ${Buffer.from(credentials ?? '').toString('base64')}`;
  const realmId = (
    await database.db
      .selectFrom('realms')
      .select('id')
      .where('uuid', '=', realmUuid)
      .executeTakeFirstOrThrow()
  ).id;

  async function addDevice(row: {
    kind: TokenKind;
    token: string;
    appId?: string;
    environment?: string;
    registeredAt?: number;
    realm?: RealmId;
    account?: PushAccountId;
    addressee?: Addressee;
  }) {
    const identity = {
      realm_id: row.realm ?? realmId,
      push_account_id: row.addressee ?? formatPushAccountId(row.account ?? pushAccountId),
      token_lookup: `lookup of ${row.token} ${randomBytes(4).toString('hex')}`,
    };
    const { id } = await database.write(({ db }) =>
      db
        .insertInto('relay_devices')
        .values({
          ...identity,
          token_kind: row.kind,
          token: tokenVault.seal(row.token, bindingOfToken(identity)),
          ios_app_id: row.kind === 'apns' ? (row.appId ?? topic) : null,
          apns_environment: row.kind === 'apns' ? (row.environment ?? 'production') : null,
          registered_at: row.registeredAt ?? clock() - 60_000,
          expired_at: null,
        })
        .returning('id')
        .executeTakeFirstOrThrow(),
    );
    return id;
  }

  async function receipts(
    ids: readonly (string | undefined)[],
  ): Promise<{ status: string; reason?: string; attempts: number; device_id: number }[]> {
    const answer = await app.inject({
      method: 'GET',
      url: `${relayReceiptsPath}?ids=${ids.join(',')}`,
      headers: { authorization },
    });
    return answer.json().receipts;
  }

  return {
    app,
    database,
    vendors,
    dir,
    log: { text, lines },
    context,
    metrics,
    readiness,
    deliveries,
    reloadCredentials: () => relay.reloadCredentials(),
    realmId,
    tokenVault,
    ring,
    writeApps,
    authorization,
    server,
    addFcm: (token: string, more: { registeredAt?: number; realm?: RealmId; account?: PushAccountId } = {}) =>
      addDevice({ kind: 'fcm', token, ...more }),
    addWebPush: (token: string, more: { registeredAt?: number; realm?: RealmId } = {}) =>
      addDevice({ kind: 'webpush', token, ...more }),
    addApns: (token: string, more: { appId?: string; environment?: string; registeredAt?: number } = {}) =>
      addDevice({ kind: 'apns', token, ...more }),
    /** Adds a device of the newer generation. Returns the id of its token. */
    async addByToken(kind: TokenKind, token: string, more: { realm?: RealmId } = {}): Promise<TokenId> {
      const tokenId = computeTokenId(token);
      await addDevice({ kind, token, addressee: addresseeOfToken(tokenId), ...more });
      return tokenId;
    },
    device: (id: RelayDeviceId) =>
      database.db.selectFrom('relay_devices').selectAll().where('id', '=', id).executeTakeFirstOrThrow(),

    async notify(
      requests: readonly object[],
      more: { body?: object; authorization?: string } = {},
    ): Promise<NotifyAnswer> {
      const answer = await app.inject({
        method: 'POST',
        url: relayNotifyPath,
        headers: { authorization: more.authorization ?? authorization, 'content-type': 'application/json' },
        payload: stringifyJson({
          realm_uuid: realmUuid,
          push_requests: requests as never,
          ...(more.body as object),
        }),
      });
      return {
        status: answer.statusCode,
        headers: answer.headers,
        body: parseJson(answer.body) as unknown as NotifyAnswer['body'],
      };
    },

    receipts,

    /** Waits until a receipt is no longer `queued`. */
    async settled(
      id: string | undefined,
      withinMilliseconds = patienceMilliseconds,
    ): Promise<{ status: string; reason?: string; attempts: number }> {
      let last: { status: string; attempts: number } | undefined;
      await until(async () => {
        [last] = await receipts([id]);
        return last !== undefined && last.status !== 'queued';
      }, withinMilliseconds);
      return last as { status: string; attempts: number };
    },

    async faults(rules: readonly object[], seed?: number): Promise<void> {
      const response = await fetch(`${vendors.urls.http}/faults`, {
        method: 'PUT',
        body: JSON.stringify({ rules, seed }),
      });
      if (response.status !== 200) throw new Error(await response.text());
    },

    async arrived(token?: string): Promise<VendorDelivery[]> {
      const query = token === undefined ? '' : `?token=${encodeURIComponent(token)}`;
      const text = await (await fetch(`${vendors.urls.http}/deliveries${query}`)).text();
      const { deliveries: all } = JSON.parse(text) as { deliveries: VendorDelivery[] };
      return all.map((delivery) => ({ ...delivery, text }));
    },

    statistics: () => readStatistics(vendors.urls.http),

    /** Resolves to the readiness that the relay reports on the operator's port. */
    async ready(): Promise<{ ready: boolean; checks: { vendors: string; keys: string } }> {
      return JSON.parse(readinessAnswer(await readiness.look(), { isPublic: false }).body);
    },

    /** Shuts the relay down as in production. With `keepData`, a new relay can start with its data. */
    async close({ keepData = false } = {}): Promise<void> {
      await relay.close();
      await own?.close();
      if (keepData) return;
      for (const folder of [dir, ring.folder]) rmSync(folder, { recursive: true, force: true });
    },
  };
}

export function fcmRequest(deviceId: number | bigint, more: object = {}): object {
  const payload = { push_account_id: pushAccountId, encrypted_data: encryptedData };
  return { device_id: deviceId, fcm_priority: 'high', payload, ...more };
}

const stockAps = { 'mutable-content': 1, alert: { title: 'New notification' }, sound: 'default' };

export function apnsRequest(deviceId: number | bigint, more: object = {}, aps: object = stockAps): object {
  const payload = { push_account_id: pushAccountId, encrypted_data: encryptedData, aps };
  return {
    device_id: deviceId,
    http_headers: { apns_priority: 10, apns_push_type: 'alert' },
    payload,
    ...more,
  };
}

export function apnsToken(index = 0): string {
  return `c0ffee${index.toString(16).padStart(58, '0')}`;
}

/** Polls until the condition is true. @throws Error after `withinMilliseconds`. */
export async function until(
  isSo: () => Promise<boolean> | boolean,
  withinMilliseconds = patienceMilliseconds,
): Promise<void> {
  const deadline = Date.now() + withinMilliseconds;
  while (!(await isSo())) {
    if (Date.now() > deadline) throw new Error(`the condition was not met within ${withinMilliseconds} ms`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
