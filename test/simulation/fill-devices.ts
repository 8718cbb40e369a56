import { randomInt } from 'node:crypto';
import pg from 'pg';
import type { TokenVault } from '#relay/registrations/store/token-vault.js';
import { newDeviceRow } from '../bench/many-devices.js';

export interface FillOptions {
  /** Total number of rows after filling. */
  readonly rows: number;
  readonly realms: number;
  readonly tokenVault: TokenVault;
  readonly tell: (sentence: string) => void;
}

const rowsPerStatement = 10_000;
const rowsToTellOf = 500_000;

/** Fills `relay_devices` with random devices, spread over many realms. Builds the indexes at the end. */
export async function fillDevices(client: pg.Client, options: FillOptions): Promise<void> {
  const { rows, realms, tokenVault, tell } = options;
  await client.query('set synchronous_commit = off');
  await client.query("set maintenance_work_mem = '512MB'");
  await client.query('alter table relay_devices drop constraint if exists relay_devices_once');
  await client.query(
    `insert into realms (uuid, server_id, created_at)
     select gen_random_uuid()::text, (select min(id) from servers), 0 from generate_series(1, $1)
     where (select count(*) from realms) < $1`,
    [realms],
  );
  const { rows: before } = await client.query<{ count: string }>('select count(*) from relay_devices');
  for (let there = Number(before[0]?.count); there < rows; ) {
    const count = Math.min(rowsPerStatement, rows - there);
    const devices = Array.from({ length: count }, () => newDeviceRow(tokenVault, 1 + randomInt(realms)));
    await client.query(fillStatement, [JSON.stringify(devices)]);
    there += count;
    if (there % rowsToTellOf === 0 || there === rows) tell(`${there} rows`);
  }
  await client.query(
    'alter table relay_devices add constraint relay_devices_once unique (realm_id, push_account_id, token_lookup)',
  );
  await client.query('vacuum analyze relay_devices');
}

const fillStatement = `
  insert into relay_devices (realm_id, push_account_id, token_kind, token_lookup, token, registered_at)
  select realm_id, push_account_id, 'fcm', token_lookup, token, (extract(epoch from now()) * 1000)::bigint
  from json_populate_recordset(null::relay_devices, $1)`;

export async function withClient<Result>(
  url: string,
  action: (client: pg.Client) => Promise<Result>,
): Promise<Result> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return await action(client);
  } finally {
    await client.end();
  }
}
