import pg from 'pg';

export interface FillOptions {
  /** Rows that there shall be in the end. */
  readonly rows: number;
  readonly realms: number;
  readonly tell: (sentence: string) => void;
}

const rowsPerStatement = 500_000;

/** Fills `relay_devices` with devices as random as real ones, spread over many realms; indexes are built at the end. */
export async function fillDevices(client: pg.Client, { rows, realms, tell }: FillOptions): Promise<void> {
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
  for (let there = Number(before[0]?.count); there < rows; there += rowsPerStatement) {
    await client.query(fillStatement, [Math.min(rowsPerStatement, rows - there), realms]);
    tell(`${Math.min(rows, there + rowsPerStatement)} rows`);
  }
  await client.query(
    'alter table relay_devices add constraint relay_devices_once unique (realm_id, push_account_id, token_lookup)',
  );
  await client.query('vacuum analyze relay_devices');
}

// Lengths as the relay writes them: a keyed hash, and a sealed token of FCM's usual length.
const fillStatement = `
  insert into relay_devices (realm_id, push_account_id, token_kind, token_lookup, token, registered_at)
  select 1 + floor(random() * $2)::int, (floor(random() * 1.8e19) - 9e18)::bigint::text, 'fcm',
    encode(decode(md5(random()::text), 'hex'), 'base64'),
    repeat(md5(random()::text), 7), (extract(epoch from now()) * 1000)::bigint
  from generate_series(1, $1)`;

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
