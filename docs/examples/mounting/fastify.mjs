// A calendar on Fastify, whose entries are in the same SQLite file as push.
import { createHash } from 'node:crypto';
import { DatabaseSync } from '@photostructure/sqlite';
import { createServerPush, openPushDatabase, serverPush } from '@waxwing/server-push';
import { Secret } from '@waxwing/service/config';
import fastify from 'fastify';

const { PORT, PUBLIC_URL, REALM_UUID, RELAY_URL, RELAY_SERVER_ID, RELAY_SERVER_KEY } = process.env;
const digest = (key) => createHash('sha256').update(key).digest('hex');
/** People by the digest of their API key. */
const people = new Map([[digest('the-key-of-ada'), { id: 1 }]]);

const database = await openPushDatabase({ url: 'sqlite:calendar.sqlite' });
const calendar = new DatabaseSync('calendar.sqlite');
calendar.exec('create table if not exists entries (id integer primary key, person integer, title text)');

const push = await createServerPush({
  database,
  async authenticate(head) {
    const person = people.get(digest(head.basicCredentials().password.reveal()));
    return person && { userId: person.id };
  },
  realm: { uuid: REALM_UUID, url: PUBLIC_URL, name: 'Calendar' },
  relay: {
    kind: 'configured',
    url: RELAY_URL,
    serverId: RELAY_SERVER_ID,
    serverKey: new Secret(RELAY_SERVER_KEY),
  },
});
await database.jobs.start();

const app = fastify();
await app.register(serverPush, { push });
app.post('/entries', async ({ body: { title } }, reply) => {
  calendar.exec('begin immediate');
  try {
    calendar.prepare('insert into entries (person, title) values (?, ?)').run(1, title);
    await push.notify([1], { content: { type: 'payload', payload: { title, body: 'Today' } } }, calendar);
    calendar.exec('commit');
  } catch (error) {
    calendar.exec('rollback');
    throw error;
  }
  return reply.code(204).send();
});
app.addHook('onClose', async () => {
  await database.jobs.stop(5000);
  await database.close();
});
app.addHook('preClose', () => push.close());
await app.listen({ port: Number(PORT) });
console.log(`listening at ${PUBLIC_URL}`);

process.once('SIGTERM', () => app.close());
