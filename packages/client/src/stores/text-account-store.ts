import { isJsonObject, type JsonValue, parseJsonOrUndefined } from '@waxwing/protocol/phone';
import type { PushAccount } from '../accounts/push-account.js';
import { isSameAccount } from '../accounts/push-account.js';
import type { PushAccountStore } from '../accounts/push-account-store.js';
import { decodePushAccount, encodePushAccount } from '../accounts/push-account-text.js';
import { type SignOutTime, signOutIn, withSignOut } from '../accounts/sign-out-times.js';
import { changeTexts, type StoredTexts } from './stored-texts.js';

const accountsName = 'waxwing.accounts';
const signOutsName = 'waxwing.signed-out';

/**
 * Creates an account table that is stored in one text, with one line per account. Drops damaged lines. The next sync
 * registers the affected accounts again.
 */
export function createTextPushAccountStore(texts: StoredTexts): PushAccountStore {
  async function list(): Promise<readonly PushAccount[]> {
    const text = await texts.read(accountsName);
    if (text === undefined) return [];
    const lines = text.split('\n').filter((line) => line.trim() !== '');
    const accounts = lines.flatMap((line) => decodeOrUndefined(line) ?? []);
    if (accounts.length < lines.length) texts.noteDamage(accountsName, text);
    return accounts;
  }
  async function replace(accounts: readonly PushAccount[]): Promise<void> {
    if (accounts.length === 0) await texts.remove(accountsName);
    else await texts.write(accountsName, accounts.map(encodePushAccount).join('\n'));
  }
  const others = async (id: PushAccount['pushAccountId']) =>
    (await list()).filter(({ pushAccountId }) => pushAccountId !== id);
  return {
    list,
    get: async (id) => (await list()).find(({ pushAccountId }) => pushAccountId === id),
    put: (account) => changeTexts(async () => replace([...(await others(account.pushAccountId)), account])),
    addIfAbsent: (account) =>
      changeTexts(async () => {
        const accounts = await list();
        const existing = accounts.find((each) => isSameAccount(each, account));
        if (existing === undefined) await replace([...accounts, account]);
        return existing ?? account;
      }),
    remove: (id) => changeTexts(async () => replace(await others(id))),
    noteSignOut: (account, at) =>
      changeTexts(async () => {
        await writeSignOuts(texts, withSignOut(await listSignOuts(texts), account, at));
      }),
    async lastSignOut(account) {
      const last = signOutIn(await listSignOuts(texts), account);
      if (texts.isDamaged(signOutsName)) {
        await changeTexts(async () => writeSignOuts(texts, await listSignOuts(texts)));
      }
      return last;
    },
    takeWarning: () => texts.takeWarning(),
  };
}

async function listSignOuts(texts: StoredTexts): Promise<readonly SignOutTime[]> {
  const text = await texts.read(signOutsName);
  if (text === undefined) return [];
  const rows = parseJsonOrUndefined(text);
  const times = Array.isArray(rows) ? rows.flatMap((row) => decodeSignOut(row) ?? []) : [];
  if (!Array.isArray(rows) || times.length < rows.length) texts.noteDamage(signOutsName, text);
  return times;
}

function writeSignOuts(texts: StoredTexts, times: readonly SignOutTime[]): Promise<void> {
  return texts.write(signOutsName, JSON.stringify(times));
}

function decodeSignOut(row: JsonValue): SignOutTime | undefined {
  if (!isJsonObject(row)) return undefined;
  const { account, at } = row;
  return typeof account === 'string' && typeof at === 'number' ? { account, at } : undefined;
}

function decodeOrUndefined(line: string): PushAccount | undefined {
  try {
    return decodePushAccount(line);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
