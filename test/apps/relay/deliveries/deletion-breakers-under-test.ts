import { afterEach } from 'vitest';
import { BreakerStore } from '#relay/deliveries/breakers/breaker-store.js';
import { DeletionBreakers } from '#relay/deliveries/breakers/deletion-breakers.js';
import type { Delivery, EncryptedNotification } from '#relay/deliveries/delivery.js';
import { type RelayDatabase, type RelayTables, relayMigrations } from '#relay/tables.js';
import { realmId, relayDeviceId } from '../../../support/ids.js';
import { createMemoryLog } from '../../../support/memory-log.js';
import { sqliteBackend } from '../../../support/test-databases.js';

export const app = 'fcm:some-project';
export const hour = 60 * 60_000;
export const time = { now: Date.UTC(2026, 0, 5, 12) };
const backend = sqliteBackend();
export let database: RelayDatabase | undefined;
export let store: BreakerStore | undefined;
export let logged = (): string => '';
/**
 * Registers the cleanup hook. Each test file must call it, because this module is loaded only once for several files.
 */
export function forgetBreakersAfterEach(): void {
  afterEach(() => {
    database = undefined;
    store = undefined;
  });
}

/** Starts the breakers of one more process on the same database. */
export async function startProcess(
  onChange: (app: string, frozen: number) => void = () => undefined,
): Promise<DeletionBreakers> {
  database ??= await backend.open<RelayTables>({ migrations: relayMigrations });
  store ??= new BreakerStore(database);
  const { log, text } = createMemoryLog();
  logged = text;
  const breakers = new DeletionBreakers({ clock: () => time.now, log, store, onChange });
  await breakers.load();
  return breakers;
}

export interface From {
  readonly app?: string;
  readonly server?: string;
  readonly realm?: string;
}

let phones = 0;
/** Creates a delivery to a new phone and a new account. */
export function delivery(
  { server = 'one', realm = 'one' }: From,
  phone = ++phones,
  account = phone,
): Delivery {
  const notification = {
    serverId: server,
    realmId: 1,
    realmUuid: realm,
    addressee: String(account),
  } as EncryptedNotification;
  const target = { tokenKind: 'fcm', token: `token ${phone}` } as const;
  return {
    notification,
    device: { id: relayDeviceId(phone), realmId: realmId(1), target, registeredAt: 0, expiredAt: undefined },
  };
}

export async function dies(breakers: DeletionBreakers, from: From = {}): Promise<boolean> {
  return breakers.mayDelete(from.app ?? app, delivery(from));
}

export function isSent(breakers: DeletionBreakers, from: From = {}): void {
  breakers.noteSent(from.app ?? app, delivery(from));
}

/**
 * Reports evenly mixed sent and dead tokens for one app. Resolves to the number of dead tokens that may be deleted.
 */
export async function hear(
  breakers: DeletionBreakers,
  total: number,
  deadShare: number,
  from: From = {},
): Promise<number> {
  let deleted = 0;
  for (let index = 0; index < total; index += 1) {
    const isDead = Math.floor((index + 1) * deadShare) > Math.floor(index * deadShare);
    if (!isDead) isSent(breakers, from);
    else if (await dies(breakers, from)) deleted += 1;
  }
  return deleted;
}

/** Resolves to the stored frozen scopes of an app. */
export async function frozen(of = app): Promise<string[]> {
  const stored = (await store?.list()) ?? [];
  return stored
    .filter(({ app, confirmedAt }) => app === of && confirmedAt === undefined)
    .map(({ scope }) => scope || 'all');
}
