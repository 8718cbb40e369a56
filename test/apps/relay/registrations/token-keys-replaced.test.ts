import type { RelayDeviceId } from '@waxwing/protocol';
import { Secret } from '@waxwing/service/config';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { KeyUseCounter } from '#relay/keyring/uses/key-use-counter.js';
import { openRelayDatabase } from '#relay/open-database.js';
import { reencryptTokens } from '#relay/registrations/store/reencrypt-tokens.js';
import { bindingOfToken, type TokenRow, type TokenVault } from '#relay/registrations/store/token-vault.js';
import { DurableRegistrations } from '#relay/registrations/write/durable-registrations.js';
import { TransactionWriter } from '#relay/registrations/write/transaction-writer.js';
import { addServer } from '#relay/servers/manage-servers.js';
import type { RelayDatabase } from '#relay/tables.js';
import { accountIdText, realmId as realm, relayDeviceId } from '../../../support/ids.js';
import { createNodeTokenVault } from '../../../support/node-token-vault.js';
import { eachBackend } from '../../../support/test-databases.js';
import { realmUuid } from '../relay-under-test.js';
import { deviceIds } from './device-ids.js';

const realmId = realm(1);
const none = relayDeviceId(0);

/** Creates a vault that prefixes encrypted tokens with the name of its key. */
function namedVault(name: string): TokenVault {
  const vault = createNodeTokenVault();
  return {
    lookups: vault.lookups,
    seal: (token, place) => `${name}:${vault.seal(token, place)}`,
    open: (sealed, place) => vault.open(sealed.slice(name.length + 1), place),
  };
}

eachBackend((backend) => {
  const before = namedVault('old');
  const after = namedVault('new');
  /** The vault during a key rotation: encrypts with the new key, and finds and decrypts tokens of both keys. */
  const both: TokenVault = {
    lookups: (token) => [...after.lookups(token), ...before.lookups(token)],
    seal: after.seal,
    open: (sealed, place) => (sealed.startsWith('new:') ? after : before).open(sealed, place),
  };

  let database: RelayDatabase;
  beforeEach(async () => {
    const url = new Secret(await backend.freshUrl());
    database = await openRelayDatabase({ url, clock: Date.now, role: 'serving', onJobError: expect.fail });
    await addServer(database, { name: '', realmUuids: [realmUuid] }, 0);
  });
  afterEach(() => database.close());

  async function register(tokenVault: TokenVault, tokens: readonly string[]) {
    const writer = new TransactionWriter({ database, keyUses: new KeyUseCounter(() => 0) });
    const store = new DurableRegistrations({ tokenVault, writer });
    const registrations = tokens.map((token) => {
      const target = { tokenKind: 'fcm', token } as const;
      const device = { realmId, addressee: accountIdText(7), target, registeredAt: 1, datedAt: 1 };
      return { device, bouncerPublicKey: 'key', mark: undefined };
    });
    return deviceIds(await store.saveAll(registrations, 1));
  }

  const unreadable = new Set<number>();
  const stored = () => database.db.selectFrom('relay_devices').selectAll().orderBy('id').execute();

  async function reencrypt(
    isSettled: boolean,
    signal = new AbortController().signal,
  ): Promise<readonly string[]> {
    const destroyed: string[] = [];
    unreadable.clear();
    const keyToMoveTo = () => ({ id: 'new', prefix: 'new:', isSettled });
    const keyRing = {
      tokenVault: { ...both, keyToMoveTo },
      concludeTokenMove: async (id: string) => void destroyed.push(id),
    };
    const onUnreadable = (id: number) => void unreadable.add(id);
    await reencryptTokens({ database, keyRing, signal, onUnreadable });
    return destroyed;
  }

  it('recognizes a device that registered before the key was replaced', async () => {
    const [id] = await register(before, ['one']);
    expect(await register(both, ['one', 'two'])).toEqual([id, expect.any(Number)]);
    const rows = await stored();
    expect(rows.map((row) => both.open(row.token, bindingOfToken(row)))).toEqual(['one', 'two']);
    expect(rows.every(({ token }) => token.startsWith('new:'))).toBe(true);
    expect(rows.map((row) => row.token_lookup)).toEqual(
      ['one', 'two'].map((token) => after.lookups(token)[0]),
    );
  });

  it('merges the rows of a device from several key rotations into one row', async () => {
    const oldest = namedVault('oldest');
    const all: TokenVault = {
      ...both,
      lookups: (token) => [...both.lookups(token), ...oldest.lookups(token)],
    };
    await register(oldest, ['one', 'two']);
    const [, two] = await register(before, ['one', 'two']);
    const [one] = await register(after, ['one']);
    const ids = await register(all, ['one', 'two', 'three']);
    expect(ids).toEqual([one, two, expect.any(Number)]);
    const rows = await stored();
    expect(new Set(rows.map(({ id }) => id))).toEqual(new Set(ids));
    const opened = new Map(rows.map((row) => [row.id, after.open(row.token, bindingOfToken(row))]));
    expect(ids.map((id) => opened.get(id as RelayDeviceId))).toEqual(['one', 'two', 'three']);
  });

  it('re-encrypts all tokens, keeps the device ids, and only then destroys the old key', async () => {
    const tokens = Array.from({ length: 450 }, (_, index) => `token ${index}`);
    const ids = await register(before, tokens);
    expect(await reencrypt(false)).toEqual([]);
    expect(await reencrypt(true)).toEqual(['new']);
    const rows = new Map((await stored()).map((row) => [row.id, row]));
    const opened = ids
      .map((id) => rows.get(id as RelayDeviceId))
      .map((row) => row && after.open(row.token, bindingOfToken(row)));
    expect(opened).toEqual(tokens);
    expect(await register(after, tokens)).toEqual(ids);
  });

  it('leaves an unreadable token unchanged, reports it, and continues with the other tokens', async () => {
    const [first = none, spoilt = none, last = none] = await register(before, ['one', 'two', 'three']);
    const [, row] = await stored();
    const elsewhere = before.seal('two', bindingOfToken({ ...row, push_account_id: '8' } as TokenRow));
    const { db } = database;
    await db.updateTable('relay_devices').set({ token: elsewhere }).where('id', '=', spoilt).execute();
    expect(await reencrypt(true)).toEqual(['new']);
    expect([...unreadable]).toEqual([spoilt]);
    const rows = new Map((await stored()).map((each) => [each.id, each]));
    expect(rows.get(spoilt)).toEqual({ ...row, token: elsewhere });
    expect([first, last].map((id) => rows.get(id)?.token.slice(0, 4))).toEqual(['new:', 'new:']);
  });

  it('reads devices in pages, even if no device needs re-encryption', async () => {
    await register(
      after,
      Array.from({ length: 2100 }, (_, index) => `token ${index}`),
    );
    let looks = 0;
    // A signal that is aborted at its second check.
    const stopping = {
      get aborted() {
        return looks++ > 0;
      },
    };
    expect(await reencrypt(true, stopping as unknown as AbortSignal)).toEqual([]);
    expect(await reencrypt(true)).toEqual(['new']);
  });
});
