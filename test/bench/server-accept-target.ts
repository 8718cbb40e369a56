import { mkdtempSync, rmSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { registerPushDeviceParameters } from '@waxwing/protocol';
import { createServerPush } from '@waxwing/server-push';
import { hashCredential, matchesCredential, Secret } from '@waxwing/service/config';
import { type BoundOperation, bindOperations, createHttpApp, operation } from '@waxwing/service/http';
import { systemClock } from '@waxwing/service/lifecycle';
import { createLogger } from '@waxwing/service/logging';
import { Metrics } from '@waxwing/service/metrics';
import { loadFastestSodium } from '@waxwing/sodium/native';
import { openServerDatabase } from '#server/open-database.js';
import { insertUser } from '#server/people/users/user-store.js';
import { authenticateUser, lockRequester } from '#server/platform/authentication/authenticate.js';
import { roles } from '#server/platform/authentication/roles.js';
import { checkRegistration } from '#server-push/push-devices/check-registration.js';
import { registerPush } from '#server-push/register-push.js';
import { userId } from '../support/ids.js';
import type { ServerBenchTarget } from './server-accept.js';

/**
 * The process that `server-accept` measures. It serves the operation on two ports: one stores registrations, the other
 * does not. No jobs run.
 */

// With this many users, each user has only a few phones.
const users = 20_000;
const clock = systemClock;
const folder = mkdtempSync(join(tmpdir(), 'waxwing-bench-'));
// Formats log lines of requests, as in production, and discards them.
const log = createLogger('bench', 'info', { write: () => undefined });
const { sodium } = await loadFastestSodium();
const database = await openServerDatabase({
  url: new Secret(`sqlite:${join(folder, 'server.sqlite')}`),
  role: 'serving',
  clock,
  onJobError: (error) => console.error(error),
});
const accounts = Array.from({ length: users }, (_, index) => ({
  email: `user${index}@example.com`,
  key: `key-${index}`,
}));
const ids = await database.write(async ({ db }) => {
  const inserted: number[] = [];
  for (const { email, key } of accounts) {
    const named = { email, fullName: email, role: roles.member, isBot: false, botOwnerId: undefined };
    inserted.push((await insertUser(db, { ...named, apiKeyHash: hashCredential(key) }, clock())) ?? 0);
  }
  return inserted;
});
const known = new Map(
  accounts.map(({ email, key }, index) => [email, { id: ids[index] ?? 0, hash: hashCredential(key) }]),
);

const push = await createServerPush({
  database,
  clock,
  random: Math.random,
  log,
  metrics: new Metrics(),
  sodium,
  publish: async () => undefined,
  authenticate: async (head) => {
    const user = await authenticateUser(database, head);
    const hold = async (transaction: Parameters<typeof lockRequester>[0]) =>
      void (await lockRequester(transaction, user));
    return { userId: user.id, isBot: user.isBot, lockUser: hold };
  },
  relay: { kind: 'configured', url: 'http://127.0.0.1:9', serverId: 'bench', serverKey: new Secret('key') },
  realm: { uuid: '9aa61d0b-8ce5-488d-8e9e-fedc346e6836', url: 'https://chat.example.com', name: 'Bench' },
  registrationsPerHour: 100_000,
});
const keepingNothing = operation({
  ...registerPush,
  async handle(_context: Parameters<typeof registerPush.handle>[0], { parameters }) {
    checkRegistration(registerPushDeviceParameters.parse(parameters), sodium);
    return {};
  },
});
const inMemory = bindOperations(
  {
    authenticate: async (head: Parameters<typeof authenticateUser>[1]) => {
      const { username, password } = head.basicCredentials();
      const user = known.get(username);
      if (!matchesCredential(password.reveal(), user?.hash)) throw new Error('the key is wrong');
      return { userId: userId(user?.id ?? 0), isBot: false, hold: async () => undefined };
    },
  } as never,
  [keepingNothing],
);

const durable = await listen(push.operations);
const memory = await listen(inMemory);
const target: ServerBenchTarget = {
  durablePort: durable.port,
  memoryPort: memory.port,
  users: accounts.map(({ email, key }) => `Basic ${Buffer.from(`${email}:${key}`).toString('base64')}`),
};
process.send?.(target);
process.once('SIGTERM', async () => {
  await Promise.all([durable.close(), memory.close()]);
  await push.close();
  await database.close();
  rmSync(folder, { recursive: true, force: true });
  process.exit(0);
});

async function listen(operations: readonly BoundOperation[]) {
  const app = await createHttpApp({ log, metrics: new Metrics(), operations, readiness: {} });
  await app.listen({ host: '127.0.0.1', port: 0 });
  return { port: (app.server.address() as AddressInfo).port, close: () => app.close() };
}
