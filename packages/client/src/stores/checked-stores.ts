import type { ForgottenAccountStore } from '../accounts/forgotten-account.js';
import type { PushAccountStore } from '../accounts/push-account-store.js';
import type { SeenNotifications } from '../notifications/seen-notifications.js';
import { requireStore } from '../require-options.js';

// An app may implement the stores in plain JavaScript. The functions below treat `null` as `undefined`, because
// databases and text storages return `null` for a missing value. For any other wrong value, they throw a RangeError
// that names the method. Without this check, the value would cause a misleading error later, or make every notification
// a repeat. A missing method, as in a storage passed as a store, also throws a RangeError.

export function checkAccounts(accounts: PushAccountStore): PushAccountStore {
  requireStore('accounts', accounts, ['get', 'put', 'list', 'remove']);
  const { addIfAbsent } = accounts;
  const checked: PushAccountStore = {
    get: async (id) => (await accounts.get(id)) ?? undefined,
    put: (account) => accounts.put(account),
    list: async () => requireList('accounts', await accounts.list()),
    remove: (id) => accounts.remove(id),
    takeWarning: () => accounts.takeWarning?.() ?? undefined,
  };
  if (addIfAbsent === undefined) return checked;
  return {
    ...checked,
    async addIfAbsent(account) {
      const added: unknown = await addIfAbsent.call(accounts, account);
      if (isAccount(added)) return added as typeof account;
      throw new RangeError(`accounts.addIfAbsent must return an account, but returned ${shown(added)}.`);
    },
  };
}

export function checkSeen(seen: SeenNotifications): SeenNotifications {
  requireStore('seen', seen, ['addIfNew', 'copy', 'forget']);
  return {
    async addIfNew(notification) {
      const isNew: unknown = await seen.addIfNew(notification);
      if (typeof isNew === 'boolean') return isNew;
      throw new RangeError(`seen.addIfNew must return true or false, but returned ${shown(isNew)}.`);
    },
    copy: (from, to) => seen.copy(from, to),
    forget: (id) => seen.forget(id),
  };
}

export function checkForgotten(forgotten: ForgottenAccountStore): ForgottenAccountStore {
  requireStore('forgotten', forgotten, ['put', 'list', 'remove']);
  return {
    put: (account) => forgotten.put(account),
    list: async () => requireList('forgotten', await forgotten.list()),
    remove: (id) => forgotten.remove(id),
  };
}

function requireList<Row extends object>(store: string, rows: unknown): readonly Row[] {
  if (rows === undefined || rows === null) return [];
  if (!Array.isArray(rows)) {
    throw new RangeError(`${store}.list must return an array, but returned ${shown(rows)}.`);
  }
  const other: unknown = rows.find((row) => !isAccount(row));
  if (other === undefined) return rows as Row[];
  throw new RangeError(`${store}.list must return only accounts, but returned ${shown(other)} among them.`);
}

function isAccount(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'pushAccountId' in value;
}

/** Describes a wrong value for an error message. Never includes an object or string, which may contain a secret. */
function shown(value: unknown): string {
  if (typeof value === 'object' && value !== null) return Array.isArray(value) ? 'an array' : 'an object';
  return typeof value === 'string' ? 'a string' : String(value);
}
