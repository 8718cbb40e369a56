import { randomInt } from 'node:crypto';
import { parseArgs } from 'node:util';
import { databaseServer } from '../../support/database-server.js';
import { runCrash } from './crash-run.js';

const usage =
  'npm run crash -- [--rounds 20] [--phones 1000] [--backend sqlite|postgres] [--seed 1] [--json]';

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '20' },
    phones: { type: 'string', default: '1000' },
    backend: { type: 'string', default: 'sqlite' },
    seed: { type: 'string', default: String(randomInt(1_000_000)) },
    json: { type: 'boolean', default: false },
  },
});
const rounds = wholeNumber('rounds', values.rounds);
const phones = wholeNumber('phones', values.phones);
const seed = wholeNumber('seed', values.seed);
const tell = (sentence: string): void => void process.stderr.write(`${sentence}\n`);
tell(`seed ${seed}`);
const postgresUrl = databaseServer(values.backend, refuse);
const counts = await runCrash({ rounds, phones, seed, tell, postgresUrl });
const { deliveries, ...totals } = counts;
const text = [...Object.entries(totals), ...Object.entries(deliveries)]
  .map(([name, count]) => `${name} ${count}`)
  .join(', ');
process.stdout.write(`${values.json ? JSON.stringify(counts) : text}\n`);
process.exit(counts.lost + counts.shownTwice + counts.unopenable === 0 ? 0 : 1);

function wholeNumber(name: string, text: string): number {
  return /^\d{1,9}$/.test(text) ? Number(text) : refuse(`--${name} is "${text}": it must be a whole number.`);
}

function refuse(why: string): never {
  process.stderr.write(`${why}\n${usage}\n`);
  process.exit(2);
}
