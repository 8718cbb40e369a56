import { parseArgs } from 'node:util';
import { databaseServer } from '../../support/database-server.js';
import { runRollingRestart } from './rolling-restart.js';

const usage = 'npm run restarts -- [--requests 5000] [--rate 30] [--upgrade]';

const { values } = parseArgs({
  options: {
    requests: { type: 'string', default: '5000' },
    rate: { type: 'string', default: '30' },
    upgrade: { type: 'boolean', default: false },
  },
});
for (const name of ['requests', 'rate'] as const) {
  const value = values[name];
  if (!/^[1-9]\d{0,5}$/.test(value)) refuse(`--${name} is "${value}": it must be a whole number.`);
}
const postgresUrl = databaseServer('postgres', refuse) ?? '';
const tell = (sentence: string): void => void process.stderr.write(`${sentence}\n`);
const requestsPerSecond = Number(values.rate);
const counts = await runRollingRestart({
  requests: Number(values.requests),
  requestsPerSecond,
  postgresUrl,
  isUpgrade: values.upgrade,
  tell,
});
const text = Object.entries(counts).map(([name, count]) => `${name} ${count}`);
process.stdout.write(`${text.join(', ')}\n`);
process.exit(counts.failed + counts.lost + counts.doubled === 0 ? 0 : 1);

function refuse(why: string): never {
  process.stderr.write(`${why}\n${usage}\n`);
  process.exit(2);
}
