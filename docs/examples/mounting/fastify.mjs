// A calendar on Fastify, whose entries are in the same SQLite file as push.
import { createHash } from 'node:crypto';
import { DatabaseSync } from '@photostructure/sqlite';
import { serverPush, startServerPush } from '@waxwing/server-push';
import fastify from 'fastify';

const digest = (key) => createHash('sha256').update(key).digest('hex');
/** People by the digest of their API key. */
const people = new Map([[digest('the-key-of-ada'), { id: 1 }]]);

const push = await startServerPush({
  environment: process.env,
  async authenticate(head) {
    const person = people.get(digest(head.basicCredentials().password.reveal()));
    return person && { userId: person.id };
  },
});
const calendar = new DatabaseSync(process.env.SERVER_PUSH_DATABASE.replace('sqlite:', ''));
calendar.exec('create table if not exists entries (id integer primary key, person integer, title text)');

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
app.addHook('onClose', () => push.close());
await app.listen({ port: Number(process.env.PORT) });
console.log('listening');

process.once('SIGTERM', () => app.close());
