// A bank on Express, whose accounts are in the same PostgreSQL database as push.
import { createHash } from 'node:crypto';
import { startServerPush } from '@waxwing/server-push';
import express from 'express';
import pg from 'pg';

const digest = (key) => createHash('sha256').update(key).digest('hex');

const pool = new pg.Pool({ connectionString: process.env.SERVER_PUSH_DATABASE });
await pool.query('create table if not exists customers (id integer primary key, key_digest text unique)');
await pool.query('create table if not exists transfers (customer integer, cents integer)');
const ada = [1, digest('the-key-of-ada')];
await pool.query('insert into customers values ($1, $2) on conflict do nothing', ada);

const push = await startServerPush({
  environment: process.env,
  async authenticate(head) {
    const key = digest(head.basicCredentials().password.reveal());
    const { rows } = await pool.query('select id from customers where key_digest = $1', [key]);
    return rows[0] && { userId: rows[0].id };
  },
});

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
const server = app.listen(process.env.PORT, () => console.log('listening'));

process.once('SIGTERM', async () => {
  server.close();
  await push.close();
  await pool.end();
});
