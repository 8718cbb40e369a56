import { parseArgs } from 'node:util';
import type pg from 'pg';
import { createBenchWorld, openRegistrationLoad } from '../bench/bench-relay.js';
import { median } from '../bench/bench-result.js';
import type { HttpLoad } from '../bench/http-load.js';
import { tokenVaultOf } from '../bench/many-devices.js';
import { partitionScript } from '../support/partition-script.js';
import { fillDevices, withClient } from './fill-devices.js';

/**
 * Measures the figures in `docs/scaling.md`: registrations and lookups in a small table, a large table, and a large
 * partitioned table.
 */

const fewRows = 10_000;
const realms = 1000;
const partitions = 16;
const connections = 256;
const rounds = 5;
const roundMilliseconds = 2000;
const lookupsPerRound = 200;
const devicesPerLookup = 100;

interface Figures {
  readonly rows: number;
  readonly partitions: number;
  readonly registrationsPerSecond: number;
  /** Median milliseconds to find 100 random devices of one realm. Each notify request runs such a lookup. */
  readonly lookupMilliseconds: number;
  readonly tableBytesPerRow: number;
  readonly indexBytesPerRow: number;
}

const { values } = parseArgs({
  options: { rows: { type: 'string', default: '10000000' }, json: { type: 'boolean', default: false } },
});
const postgresUrl = process.env.WAXWING_TEST_POSTGRES_URL;
if (!postgresUrl) {
  process.stderr.write(
    'Set WAXWING_TEST_POSTGRES_URL to a PostgreSQL server on which databases may be created.\n',
  );
  process.exit(2);
}
const tell = (sentence: string): void => void process.stderr.write(`${sentence}\n`);
const figures = await simulate(postgresUrl, Number(values.rows));
process.stdout.write(values.json ? `${JSON.stringify({ figures })}\n` : table(figures));
process.exit(0);

/** Waits for a checkpoint, so that dirty pages from filling the tables are not written during measurements. */
async function settleDisk(serverUrl: string): Promise<void> {
  tell('waiting for a checkpoint');
  try {
    await withClient(serverUrl, (client) => client.query('checkpoint'));
  } catch (error) {
    tell(
      `the checkpoint failed (${(error as Error).message}), so the rates include pending writes from filling the tables`,
    );
  }
}

interface Subject {
  readonly figures: Omit<Figures, 'registrationsPerSecond'>;
  openLoad(): Promise<HttpLoad>;
  close(): Promise<void>;
}

/** Alternates between the configurations, so that changes in the machine's speed affect all of them equally. */
async function simulate(serverUrl: string, rows: number): Promise<Figures[]> {
  const subjects: Subject[] = [];
  try {
    subjects.push(await prepare(serverUrl, fewRows, 1));
    subjects.push(await prepare(serverUrl, rows, 1));
    subjects.push(await prepare(serverUrl, rows, partitions));
    const loads = await Promise.all(subjects.map(({ openLoad }) => openLoad()));
    await settleDisk(serverUrl);
    const rates = subjects.map((): number[] => []);
    for (let round = 0; round <= rounds; round++) {
      for (const [index, load] of loads.entries()) {
        const rate = await load.run(roundMilliseconds);
        // The first round is a warm-up.
        if (round > 0) rates[index]?.push(rate);
      }
    }
    return subjects.map(({ figures }, index) => ({
      ...figures,
      registrationsPerSecond: Math.round(median(rates[index] ?? [])),
    }));
  } finally {
    for (const { close } of subjects) await close();
  }
}

async function prepare(serverUrl: string, rows: number, parts: number): Promise<Subject> {
  tell(`preparing ${rows} rows in ${parts === 1 ? 'one table' : `${parts} partitions`}`);
  const world = await createBenchWorld(serverUrl);
  const close = () => world.close();
  try {
    const { relayEnv } = world.constellation;
    const { RELAY_DATABASE: url = '', RELAY_PORT: port } = relayEnv;
    const tokenVault = await tokenVaultOf(relayEnv);
    const found = await withClient(url, async (client) => {
      if (parts > 1) await client.query(partitionScript());
      await fillDevices(client, { rows, realms, tokenVault, tell });
      return { ...(await sizesPerRow(client)), lookupMilliseconds: await lookupMilliseconds(client) };
    });
    await world.constellation.startRelay();
    const openLoad = () => openRegistrationLoad(world, Number(port), connections);
    return { figures: { rows, partitions: parts, ...found }, openLoad, close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function sizesPerRow(client: pg.Client) {
  const { rows } = await client.query<{ table: string; indexes: string; count: string }>(`
    select sum(pg_table_size(relid)) as table, sum(pg_indexes_size(relid)) as indexes,
      (select count(*) from relay_devices) as count
    from (select relid from pg_partition_tree('relay_devices') union select 'relay_devices'::regclass) as parts`);
  const [{ table: tableBytes, indexes, count } = { table: '0', indexes: '0', count: '1' }] = rows;
  return {
    tableBytesPerRow: Math.round(Number(tableBytes) / Number(count)),
    indexBytesPerRow: Math.round(Number(indexes) / Number(count)),
  };
}

async function lookupMilliseconds(client: pg.Client): Promise<number> {
  const times: number[] = [];
  for (let count = 0; count < lookupsPerRound; count++) {
    const realm = 1 + Math.floor(Math.random() * realms);
    const { rows } = await client.query<{ id: number }>(
      'select id from relay_devices where realm_id = $1 order by push_account_id limit $2',
      [realm, devicesPerLookup],
    );
    const ids = rows.map(({ id }) => id);
    const startedAt = performance.now();
    await client.query('select * from relay_devices where realm_id = $1 and id = any($2)', [realm, ids]);
    times.push(performance.now() - startedAt);
  }
  return Math.round(median(times) * 100) / 100;
}

function table(all: readonly Figures[]): string {
  const lines = all.map(
    (one) =>
      `${one.rows.toLocaleString('en-US').padStart(12)} rows in ${String(one.partitions).padStart(2)}: ` +
      `${one.registrationsPerSecond} registrations/s, ${one.lookupMilliseconds} ms for ${devicesPerLookup} devices, ` +
      `${one.tableBytesPerRow} + ${one.indexBytesPerRow} bytes per row`,
  );
  return `${lines.join('\n')}\n`;
}
