// A game on plain node:http.
import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import { createServerPush, openPushDatabase } from '@waxwing/server-push';
import { Secret } from '@waxwing/service/config';

const { PORT, PUBLIC_URL, REALM_UUID, RELAY_URL, RELAY_SERVER_ID, RELAY_SERVER_KEY } = process.env;
const digest = (key) => createHash('sha256').update(key).digest('hex');
/** Players by the digest of their API key. */
const players = new Map([[digest('the-key-of-ada'), { id: 1 }]]);

const database = await openPushDatabase({ url: 'sqlite:game.sqlite' });
const push = await createServerPush({
  database,
  async authenticate(head) {
    const player = players.get(digest(head.basicCredentials().password.reveal()));
    return player && { userId: player.id };
  },
  realm: { uuid: REALM_UUID, url: PUBLIC_URL, name: 'Game' },
  relay: {
    kind: 'configured',
    url: RELAY_URL,
    serverId: RELAY_SERVER_ID,
    serverKey: new Secret(RELAY_SERVER_KEY),
  },
});
await database.jobs.start();

async function play(request, response) {
  if (request.method !== 'POST' || request.url !== '/moves') return response.writeHead(404).end();
  const payload = { title: 'Game 7', body: 'It is your turn', game: 7 };
  await push.notify([1], { content: { type: 'payload', payload } });
  response.writeHead(204).end();
}

const servePush = push.toNodeListener();
const server = createServer((request, response) =>
  servePush(request, response, () => {
    play(request, response).catch(() => response.writeHead(500).end());
  }),
);
server.listen(PORT, () => console.log(`listening at ${PUBLIC_URL}`));

process.once('SIGTERM', async () => {
  server.close();
  await database.jobs.stop(5000);
  await push.close();
  await database.close();
});
