import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Database, rowsAsTable } from '@waxwing/storage';
import { sql } from 'kysely';
import { expect, it, onTestFinished } from 'vitest';
import { type ServerTables, serverMigrations } from '#server/tables.js';
import { addUsers } from '../support/add-users.js';
import type { ConstellationUser } from '../support/constellation.js';
import { freePort } from '../support/free-ports.js';
import { SpawnedProcess } from '../support/spawned-process.js';
import { eachBackend } from '../support/test-databases.js';

const messages = 10_000;
/** Number of answered reads during a move after which the server is killed, one for each move. */
const readsUntilKill = [1, 4];
const wholeTopic = { propagate_mode: 'change_all', send_notification_to_new_thread: 'false' };
const timeout = 180_000;

type Ask = (
  method: string,
  path: string,
  fields?: Record<string, string>,
) => Promise<Record<string, unknown>>;

eachBackend((backend) => {
  it(
    'a server killed during a move leaves all its messages in the old topic or all in the new one',
    async () => {
      const url = await backend.freshUrl();
      const env = await serverEnvironment(url);
      let server = await start(env);
      const [ada] = (await addUsers({ serverEnv: env }, ['ada'])) as [ConstellationUser];
      const ask = asking(env, ada);
      await ask('POST', 'users/me/subscriptions', { subscriptions: '[{"name":"long"}]' });
      const sent = await ask('POST', 'messages', {
        type: 'channel',
        to: '"long"',
        topic: 'old',
        content: 'hi',
      });
      const { queue_id } = await ask('POST', 'register', { event_types: '["update_message"]' });
      const database = await backend.open<ServerTables>({
        url,
        migrations: serverMigrations,
        role: 'visiting',
      });
      await repeatMessage(database, Number(sent.id));
      const move = (topic: string) => ask('PATCH', `messages/${sent.id}`, { topic, ...wholeTopic });
      const eventsSoFar = async () => {
        const query = { queue_id: String(queue_id), last_event_id: '-1', dont_block: 'true' };
        return (await ask('GET', 'events', query)).events;
      };
      const answered: boolean[] = [];
      let moves = 0;
      for (const reads of readsUntilKill) {
        const moving = move(`new ${reads}`).then(
          () => true,
          () => false,
        );
        for (let read = 0; read < reads; read++) await ask('GET', 'users/me');
        await server.end('SIGKILL');
        answered.push(await moving);
        server = await start(env);
        const { topics, edits } = await stateOf(database);
        if (topics.includes(`new ${reads}`)) moves += 1;
        expect([topics.length, edits]).toEqual([1, moves * messages]);
        expect(await eventsSoFar()).toHaveLength(moves);
      }
      expect(answered).toContain(false);
      await move('last');
      expect(await stateOf(database)).toEqual({ topics: ['last'], edits: (moves + 1) * messages });
      expect(await eventsSoFar()).toHaveLength(moves + 1);
    },
    timeout,
  );
});

async function serverEnvironment(databaseUrl: string): Promise<Record<string, string>> {
  const port = await freePort();
  const folder = mkdtempSync(join(tmpdir(), 'waxwing-killed-move-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return {
    SERVER_PORT: String(port),
    SERVER_DATABASE: databaseUrl,
    SERVER_UPLOADS: `disk:${join(folder, 'uploads')}`,
    SERVER_REALM_URL: `http://127.0.0.1:${port}`,
    SERVER_REALM_NAME: 'Killed',
  };
}

async function start(env: Record<string, string>): Promise<SpawnedProcess> {
  const server = new SpawnedProcess('waxwing-server', ['serve'], { env });
  onTestFinished(async () => void (await server.end('SIGKILL')));
  return server.readyAt(`${env.SERVER_REALM_URL}/health/ready`);
}

function asking(env: Record<string, string>, { email, api_key }: ConstellationUser): Ask {
  const headers = { authorization: `Basic ${btoa(`${email}:${api_key}`)}` };
  return async (method, path, fields = {}) => {
    const form = new URLSearchParams(fields);
    const url = `${env.SERVER_REALM_URL}/api/v1/${path}`;
    const response =
      method === 'GET'
        ? await fetch(`${url}?${form}`, { headers })
        : await fetch(url, { method, headers, body: form });
    const answer = (await response.json()) as Record<string, unknown>;
    if (response.status !== 200) throw new Error(`${method} ${path}: ${JSON.stringify(answer)}`);
    return answer;
  };
}

/** Copies a message until its topic contains as many messages as the test moves. */
async function repeatMessage(database: Database<ServerTables>, id: number): Promise<void> {
  const numbers = Array.from({ length: messages - 1 }, (_, number) => ({ number }));
  const columns = sql.raw(
    'sender_id, channel_id, topic, topic_lower, content, rendered_content, sent_at, client, has_link, has_image, has_attachment',
  );
  await database.write(async ({ db }) => {
    await sql`
      insert into messages (${columns})
      select ${columns} from messages cross join ${rowsAsTable(db, 'v', { number: 'integer' }, numbers)}
      where messages.id = ${id}`.execute(db);
  });
}

async function stateOf({ db }: Database<ServerTables>) {
  const topics = await db
    .selectFrom('messages')
    .select('topic')
    .distinct()
    .where('channel_id', 'is not', null)
    .execute();
  const edits = await db
    .selectFrom('message_edits')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow();
  return { topics: topics.map(({ topic }) => topic), edits: Number(edits.count) };
}
