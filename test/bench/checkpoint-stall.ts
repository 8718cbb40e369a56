import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { formatPushAccountId, type PushAccountId } from '@waxwing/protocol';
import { Secret } from '@waxwing/service/config';
import { systemClock } from '@waxwing/service/lifecycle';
import { loadFastestSodium } from '@waxwing/sodium/native';
import { newKeyRing } from '#relay/keyring/ring/new-key-ring.js';
import { KeyRingTokenVault } from '#relay/keyring/tokens/key-ring-token-vault.js';
import { openRelayDatabase } from '#relay/open-database.js';
import { DurableRegistrations } from '#relay/registrations/write/durable-registrations.js';
import { TransactionWriter } from '#relay/registrations/write/transaction-writer.js';
import { addServer } from '#relay/servers/manage-servers.js';
import { realmId } from '../support/ids.js';
import { type BenchResult, median } from './bench-result.js';
import { watchHolds } from './longest-hold.js';
import { fillDevices } from './many-devices.js';

const manyRows = 1_000_000;
// Other programs can prolong the longest stall of a single round, so the figure is a median over several rounds.
const rounds = 7;
const batches = 400;
const registrationsPerBatch = 64;
const clock = systemClock;

/**
 * `checkpoint-stall`: the longest block of the event loop while registrations are stored on SQLite. Compares a database
 * with a million devices, in which each new row is on a different page, with an empty database.
 */
export async function run(): Promise<BenchResult[]> {
  const many = await openStore(manyRows);
  const none = await openStore(0);
  const holds: { readonly value: number; readonly against: number }[] = [];
  for (let round = 0; round < rounds; round++) {
    holds.push({ value: await longestHold(many), against: await longestHold(none) });
  }
  await many.close();
  await none.close();
  const value = median(holds.map((each) => each.value));
  const against = median(holds.map((each) => each.against));
  const ratio = median(holds.map((each) => each.value / each.against));
  return [
    { name: 'checkpoint-stall', unit: 'ms of the loop', value, against, ratio, goal: 1.5, better: 'lower' },
  ];
}

type Store = Awaited<ReturnType<typeof openStore>>;

async function openStore(rows: number) {
  const folder = mkdtempSync(join(tmpdir(), 'waxwing-bench-'));
  const path = join(folder, 'relay.sqlite');
  const { sodium } = await loadFastestSodium();
  const ring = newKeyRing(sodium, clock());
  const open = () =>
    openRelayDatabase({
      url: new Secret(`sqlite:${path}`),
      role: 'serving',
      clock,
      onJobError: (error) => console.error(error),
    });
  const made = await open();
  await addServer(made, { name: 'bench', realmUuids: ['9aa61d0b-8ce5-488d-8e9e-fedc346e6836'] }, clock());
  await made.close();
  const tokenVault = new KeyRingTokenVault(() => ring, clock, sodium);
  fillDevices(path, rows, tokenVault);
  const database = await open();
  const writer = new TransactionWriter({ database, keyUses: { used: () => undefined } });
  return {
    registrations: new DurableRegistrations({ tokenVault, writer }),
    async close() {
      await database.close();
      rmSync(folder, { recursive: true });
    },
  };
}

async function longestHold({ registrations }: Store): Promise<number> {
  const longest = watchHolds();
  for (let batch = 0; batch < batches; batch++) {
    await registrations.saveAll(Array.from({ length: registrationsPerBatch }, newRegistration), clock());
    await nextTurn();
  }
  return longest();
}

function newRegistration() {
  const token = `fcm-token-${randomBytes(60).toString('hex')}`;
  const addressee = formatPushAccountId(randomBytes(8).readBigInt64BE() as PushAccountId);
  const target = { tokenKind: 'fcm', token } as const;
  const device = { realmId: realmId(1), addressee, target, registeredAt: clock(), datedAt: clock() };
  return { device, bouncerPublicKey: 'bench', mark: undefined };
}
