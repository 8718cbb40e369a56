// A bank on Express, whose accounts are in the same PostgreSQL database as push.
import { createHash } from 'node:crypto';
import { createServerPush, openPushDatabase } from '@waxwing/server-push';
import { Secret } from '@waxwing/service/config';
import express from 'express';
import pg from 'pg';

const { PORT, PUBLIC_URL, REALM_UUID, RELAY_URL, RELAY_SERVER_ID, RELAY_SERVER_KEY } = process.env;
const digest = (key) => createHash('sha256').update(key).digest('hex');

const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL });
await pool.query('create table if not exists customers (id integer primary key, key_digest text unique)');
await pool.query('create table if not exists transfers (customer integer, cents integer)');
const ada = [1, digest('the-key-of-ada')];
await pool.query('insert into customers values ($1, $2) on conflict do nothing', ada);

const database = await openPushDatabase({ url: process.env.DATABASE_URL });
const push = await createServerPush({
  database,
  async authenticate(head) {
    const key = digest(head.basicCredentials().password.reveal());
    const { rows } = await pool.query('select id from customers where key_digest = $1', [key]);
    return rows[0] && { userId: rows[0].id };
  },
  realm: { uuid: REALM_UUID, url: PUBLIC_URL, name: 'Bank' },
  relay: {
    kind: 'configured',
    url: RELAY_URL,
    serverId: RELAY_SERVER_ID,
    serverKey: new Secret(RELAY_SERVER_KEY),
  },
});
await database.jobs.start();

const app = express();
app.use(push.toNodeListener()); // before body parsers
app.use(express.json());
app.post('/transfers', async ({ body: { cents } }, response) => {
  const client = await pool.connect();
  try {
    await client.query('begin');
    await client.query('insert into transfers values ($1, $2)', [1, cents]);
    const payload = { title: 'Transfer', body: `${cents / 100} EUR have arrived` };
    await push.notify([1], { content: { type: 'payload', payload } }, client);
    await client.query('commit');
  } catch (error) {
    await client.query('rollback');
    throw error;
  } finally {
    client.release();
  }
  response.status(204).end();
});
const server = app.listen(PORT, () => console.log(`listening at ${PUBLIC_URL}`));

process.once('SIGTERM', async () => {
  server.close();
  await database.jobs.stop(5000);
  await push.close();
  await database.close();
  await pool.end();
});
