// A game on plain node:http.
import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import { startServerPush } from '@waxwing/server-push';

const digest = (key) => createHash('sha256').update(key).digest('hex');
/** Players by the digest of their API key. */
const players = new Map([[digest('the-key-of-ada'), { id: 1 }]]);

const push = await startServerPush({
  environment: process.env,
  async authenticate(head) {
    const player = players.get(digest(head.basicCredentials().password.reveal()));
    return player && { userId: player.id };
  },
});

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
server.listen(process.env.PORT, () => console.log('listening'));

process.once('SIGTERM', async () => {
  server.close();
  await push.close();
});
