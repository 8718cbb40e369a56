import { maximumEncryptedPushRegistrationCharacters } from '@waxwing/protocol';
import { Secret } from '@waxwing/service/config';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { KeyRing } from '#relay/keyring/ring/key-ring.js';
import { newKeyRing, newTokenKey } from '#relay/keyring/ring/new-key-ring.js';
import { KeyRingTokenVault } from '#relay/keyring/tokens/key-ring-token-vault.js';
import { KeyUseCounter } from '#relay/keyring/uses/key-use-counter.js';
import { openRelayDatabase } from '#relay/open-database.js';
import { decodeSealedRegistration } from '#relay/registrations/opening/open-registration.js';
import { rememberOpenedTokens } from '#relay/registrations/store/opened-tokens.js';
import { reencryptTokens } from '#relay/registrations/store/reencrypt-tokens.js';
import { setApnsEnvironment } from '#relay/registrations/store/relay-device-store.js';
import { bindingOfToken } from '#relay/registrations/store/token-vault.js';
import {
  findUnreadableDevices,
  removeUnreadableDevices,
} from '#relay/registrations/store/unreadable-devices.js';
import { DurableRegistrations } from '#relay/registrations/write/durable-registrations.js';
import type { RegistrationWriter } from '#relay/registrations/write/registration-writer.js';
import { StatementWriter } from '#relay/registrations/write/statement-writer.js';
import { TransactionWriter } from '#relay/registrations/write/transaction-writer.js';
import { addServer } from '#relay/servers/manage-servers.js';
import type { RelayDatabase } from '#relay/tables.js';
import { accountIdText, realmId as realm, relayDeviceId } from '../../../support/ids.js';
import { createNodeTokenVault } from '../../../support/node-token-vault.js';
import { eachBackend, eachPostgres, type TestBackend } from '../../../support/test-databases.js';
import { sodium } from '../keyring/ring-material.js';
import { otherRealmUuid, realmUuid } from '../relay-under-test.js';
import { deviceIds } from './device-ids.js';

interface Presented {
  readonly realmId?: number;
  readonly account?: number;
  readonly token?: string;
  readonly hash?: string;
}

/** Creates the writer for one of two relays. The writer calls `onRun` for each run of its transaction. */
type WriterOf = (database: RelayDatabase, index: number, onRun: () => void) => RegistrationWriter;

async function openDatabase(backend: TestBackend, url?: string): Promise<RelayDatabase> {
  return openRelayDatabase({
    url: new Secret(url ?? (await backend.freshUrl())),
    clock: Date.now,
    role: 'serving',
    onJobError: expect.fail,
  });
}

const addRealms = (database: RelayDatabase) =>
  addServer(database, { name: '', realmUuids: [realmUuid, otherRealmUuid] }, 0);

function opened({ realmId = 1, account = 7, token = 'a token', hash }: Presented) {
  const target = { tokenKind: 'fcm', token } as const;
  const device = {
    realmId: realm(realmId),
    addressee: accountIdText(account),
    target,
    registeredAt: 1,
    datedAt: 1,
  };
  return { device, bouncerPublicKey: 'key', mark: hash === undefined ? undefined : { hash, forgetAt: 1 } };
}

eachBackend((backend) => {
  let database: RelayDatabase;
  let ring: KeyRing;
  const tokenVault = new KeyRingTokenVault(() => ring, Date.now, sodium);
  beforeEach(async () => {
    database = await openDatabase(backend);
    await addRealms(database);
    ring = newKeyRing(sodium, 0);
  });
  afterEach(() => database.close());

  function present(...presented: readonly Presented[]) {
    const writer = new TransactionWriter({ database, keyUses: new KeyUseCounter(() => 0) });
    const store = new DurableRegistrations({ tokenVault, writer });
    return store.saveAll(presented.map(opened), 1);
  }
  const save = async (...presented: readonly Presented[]) => deviceIds(await present(...presented));
  const stored = () => database.db.selectFrom('relay_devices').selectAll().orderBy('id').execute();
  const addTokenKey = () => {
    ring = { ...ring, tokenKeys: [...ring.tokenKeys, newTokenKey(sodium, 1)] };
  };
  const sweep = () =>
    reencryptTokens({
      database,
      signal: new AbortController().signal,
      onUnreadable: expect.fail,
      keyRing: { tokenVault, concludeTokenMove: async () => undefined },
    });
  const openAll = async () => (await stored()).map((row) => tokenVault.open(row.token, bindingOfToken(row)));

  it('stores the same sealed bytes from two realms in one commit only for the first realm', async () => {
    const refused = 'presented-before';
    expect(await present({ realmId: 1, hash: 'x' }, { realmId: 2, hash: 'x' })).toEqual([1, refused]);
    expect(await present({ realmId: 2, hash: 'y' }, { realmId: 1, hash: 'y' })).toEqual([2, refused]);
    expect(await present({ realmId: 1, account: 8, hash: 'y' })).toEqual([refused]);
  });

  it('updates the lookup of only the device that registers after a token key rotation', async () => {
    await save({}, { account: 8 }, { realmId: 2 }, { token: 'another token' });
    const before = await stored();
    addTokenKey();
    expect(await save({})).toEqual([before[0]?.id]);
    const after = await stored();
    expect(after.slice(1)).toEqual(before.slice(1));
    expect(after[0]?.token_lookup).not.toBe(before[0]?.token_lookup);
    expect(await openAll()).toEqual(['a token', 'a token', 'a token', 'another token']);
  });

  it('deletes a row with an older key only if the same device has a row with the newer key', async () => {
    const others = [{ account: 8 }, { realmId: 2 }, { token: 'another token' }];
    await save({}, ...others);
    const [stale, ...before] = await stored();
    addTokenKey();
    // Simulates a relay that did not find the older row, for example because it restarted during the rotation.
    const both = ring;
    ring = { ...ring, tokenKeys: ring.tokenKeys.slice(1) };
    const [id] = await save({}, { account: 9 }, { account: 9, token: 'another token' });
    ring = both;
    await sweep();
    const ids = (await stored()).map((row) => row.id);
    expect(ids).not.toContain(stale?.id);
    expect(ids).toEqual(expect.arrayContaining([id, ...before.map((row) => row.id)]));
    expect(ids).toHaveLength(before.length + 3);
    expect(await openAll()).toHaveLength(ids.length);
    expect((await openAll()).every((token) => typeof token === 'string')).toBe(true);
  });

  it('deletes an unreadable device only if its row has not changed since the scan', async () => {
    await save({}, { account: 8 });
    const right = ring;
    ring = newKeyRing(sodium, 0);
    const { devices, looked } = await findUnreadableDevices(database, tokenVault);
    expect([devices.length, looked]).toEqual([2, 2]);
    ring = right;
    const [, second] = await save({}, { account: 8 });
    expect(await removeUnreadableDevices(database, devices)).toBe(0);
    ring = newKeyRing(sodium, 0);
    const found = await findUnreadableDevices(database, tokenVault);
    expect(await removeUnreadableDevices(database, found.devices.slice(0, 1))).toBe(1);
    expect((await stored()).map((row) => row.id)).toEqual([second]);
  });

  it('stores no APNs environment for an FCM device', async () => {
    const [id = relayDeviceId(0)] = await save({});
    const [row] = await stored();
    const name = { realmId: row?.realm_id ?? realm(0), relayDeviceId: id, addressee: accountIdText(7) };
    expect(await database.write(({ db }) => setApnsEnvironment(db, name, 'sandbox'))).toBe(false);
    expect((await stored())[0]?.apns_environment).toBeNull();
  });
});

describe('two relays that store the same devices in opposite orders', () => {
  eachPostgres((postgres) => {
    const inSteps: WriterOf = (database, _index, onRun) =>
      new TransactionWriter({ database, keyUses: { used: onRun } });
    const inOneStatement: WriterOf = (database, _index, onRun) => {
      const writeStatement: RelayDatabase['writeStatement'] = (statement) =>
        database.writeStatement((db) => {
          onRun();
          return statement(db);
        });
      const keyUses = new KeyUseCounter(Math.random);
      const counted = { db: database.db, writeStatement };
      return new StatementWriter({ database: counted, keyUses, inSteps: inSteps(database, 0, expect.fail) });
    };
    const inEither: WriterOf = (database, index, onRun) =>
      (index === 0 ? inSteps : inOneStatement)(database, index, onRun);
    const devices = (account: number) => ({ account });
    const sealed = (account: number) => ({ account, hash: `hash ${account}` });

    it.each([
      ['devices, in steps', inSteps, devices],
      ['sealed registrations, in steps', inSteps, sealed],
      ['devices, in one statement', inOneStatement, devices],
      ['sealed registrations, in one statement', inOneStatement, sealed],
      ['devices, in steps and in one statement', inEither, devices],
      ['sealed registrations, in steps and in one statement', inEither, sealed],
    ])('never deadlock: %s', async (_what, writerOf, presentedBy) => {
      const url = await postgres.freshUrl();
      const databases = [await openDatabase(postgres, url), await openDatabase(postgres, url)];
      await addRealms(databases[0] as RelayDatabase);
      const tokenVault = createNodeTokenVault();
      const accounts = Array.from({ length: 2000 }, (_, index) => index);
      let runs = 0;
      const rounds = 3;
      for (let round = 0; round < rounds; round += 1) {
        await Promise.all(
          databases.map((database, index) => {
            // If a transaction is the victim of a deadlock, it runs again, which increments `runs`.
            const writer = writerOf(database, index, () => {
              runs += 1;
            });
            const store = new DurableRegistrations({ tokenVault, writer });
            const ordered = index === 0 ? accounts : accounts.toReversed();
            return store.saveAll(
              ordered.map((account) => opened(presentedBy(account))),
              1,
            );
          }),
        );
      }
      expect(runs).toBe(rounds * databases.length);
      await Promise.all(databases.map((database) => database.close()));
    });
  });
});

it('a sealed registration that exceeds the maximum length is not decoded', () => {
  const longest = 'A'.repeat(maximumEncryptedPushRegistrationCharacters);
  expect(decodeSealedRegistration(longest)).toHaveLength(
    (maximumEncryptedPushRegistrationCharacters / 4) * 3,
  );
  expect(decodeSealedRegistration(`${longest}AAAA`)).toBeUndefined();
});

it('a token vault caches the 10,000 most recently used tokens', () => {
  const vault = createNodeTokenVault();
  let opens = 0;
  const open = (sealed: string) => {
    opens += 1;
    return sealed;
  };
  const remembering = rememberOpenedTokens({ ...vault, open });
  for (let index = 0; index < 10_000; index += 1) remembering.open(`token ${index}`, 'place');
  remembering.open('token 0', 'place');
  expect(opens).toBe(10_000);
  remembering.open('one more', 'place');
  remembering.open('token 0', 'place');
  expect(opens).toBe(10_001);
  remembering.open('token 1', 'place');
  expect(opens).toBe(10_002);
});
