import type pg from 'pg';

/** Whether the PostgreSQL server of this connection is a standby, which accepts no writes. */
export async function isStandby(client: Pick<pg.ClientBase, 'query'>): Promise<boolean> {
  const { rows } = await client.query<{ standby: boolean }>('select pg_is_in_recovery() as standby');
  return rows[0]?.standby === true;
}
