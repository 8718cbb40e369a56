/**
 * Runs all attacks at full strength, one after another, each beside an honest user: `npm run attacks`. Takes almost an
 * hour on two cores. The tests in this folder do the same with fewer requests. `--only refused` runs the attacks whose
 * names contain this text. `--small` runs all attacks at the tests' scale.
 */
import { parseArgs } from 'node:util';
import { databaseServer } from '../../support/database-server.js';
import { type AttackWorld, createAttackWorld, type Target } from './attack-world.js';
import {
  expensiveAttacks,
  expensiveRelayAttacks,
  httpAttacksOn,
  httpRefusalsOn,
  type MakeAttack,
  memberAttacksOn,
  warmUp,
} from './attacks.js';
import { type Harm, measureAttack } from './measure-attack.js';
import { fullLimits, fullScale, gateScale, reachableLimits } from './scale.js';

const usage =
  'npm run attacks -- [--only PART]… [--target relay|server] [--backend sqlite|postgres] [--small] [--json]';
const widestName = 82;

interface Row {
  readonly target: Target['name'];
  readonly attack: string;
  /** Number of connections opened, responses received, or requests cut off. */
  readonly done: number;
  /** Number of error responses. */
  readonly refused: number;
  /** Latency of the honest user's requests. */
  readonly p50Milliseconds: number;
  readonly p99Milliseconds: number;
  /** Upper bound of the latency. `null` if the machine is too busy for a verdict. */
  readonly mostMilliseconds: number | null;
  /** Resident memory after the attack, as a multiple of the memory before it. */
  readonly memoryRatio: number;
  /** Heap size after a garbage collection, as a multiple of the size before the attack. */
  readonly heapRatio: number;
  readonly inFlightAfter: number;
  readonly seconds: number;
  readonly complaints: readonly string[];
}

const { values } = parseArgs({
  options: {
    only: { type: 'string', multiple: true, default: [] },
    target: { type: 'string', multiple: true, default: ['relay', 'server'] },
    backend: { type: 'string', default: 'sqlite' },
    small: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
  },
});
const postgresUrl = databaseServer(values.backend, refuse);
const rows: Row[] = [];
const limits = values.small ? reachableLimits : fullLimits;
const world = await createAttackWorld({ ...limits, postgresUrl });
try {
  await warmUp(world);
  for (const target of ['relay', 'server'] as const) {
    if (values.target.includes(target)) await attackAll(world, target);
  }
} finally {
  await world.close();
}
if (values.json) process.stdout.write(`${JSON.stringify({ attacks: rows })}\n`);
const harmed = rows.filter(({ complaints }) => complaints.length > 0).length;
process.stderr.write(`${rows.length} attacks, of which ${harmed} did harm\n`);
process.exit(harmed === 0 && rows.length > 0 ? 0 : 1);

async function attackAll(world: AttackWorld, target: Target['name']): Promise<void> {
  const refusals = { ...httpAttacksOn(target), ...httpRefusalsOn(target), ...memberAttacksOn(target) };
  const all = { ...(target === 'server' ? expensiveAttacks : expensiveRelayAttacks), ...refusals };
  for (const [attack, make] of Object.entries(all)) {
    if (values.only.length > 0 && !values.only.some((part) => attack.includes(part))) continue;
    const row = await tryOne(world, target, attack, make);
    rows.push(row);
    if (!values.json) process.stdout.write(describe(row));
  }
}

async function tryOne(
  world: AttackWorld,
  target: Target['name'],
  attack: string,
  make: MakeAttack,
): Promise<Row> {
  const scale = values.small ? gateScale : fullScale;
  const made = await make(world, scale);
  const startedAt = performance.now();
  const harm = await measureAttack(world[target], made, scale);
  const seconds = Math.round((performance.now() - startedAt) / 1000);
  return { target, attack, ...figuresOf(harm), seconds, complaints: harm.complaints };
}

function figuresOf({ measured, report, before, after }: Harm) {
  const refusals = Object.values(report.answers)
    .flatMap((counts) => Object.entries(counts))
    .filter(([answer]) => !answer.startsWith('2'));
  return {
    done: report.done,
    refused: refusals.reduce((sum, [, count]) => sum + count, 0),
    p50Milliseconds: measured.p50Milliseconds,
    p99Milliseconds: measured.p99Milliseconds,
    mostMilliseconds: Number.isFinite(measured.mostMilliseconds) ? measured.mostMilliseconds : null,
    memoryRatio: hundredths(after.residentBytes / before.residentBytes),
    heapRatio: hundredths(after.heapBytes / before.heapBytes),
    inFlightAfter: after.requestsInFlight,
  };
}

function hundredths(ratio: number): number {
  return Math.round(ratio * 100) / 100;
}

function describe(row: Row): string {
  const figures = [
    `${row.done} done`.padStart(12),
    `${row.refused} refused`.padStart(15),
    `p50 ${row.p50Milliseconds} ms`.padStart(9),
    `p99 ${row.p99Milliseconds} of ${row.mostMilliseconds ?? 'any'} ms`.padStart(18),
    `memory ${row.memoryRatio.toFixed(2)}`,
    `heap ${row.heapRatio.toFixed(2)}`,
    `in flight ${row.inFlightAfter}`,
    `${row.seconds} s`.padStart(6),
  ];
  const complaints = row.complaints.map((complaint) => `        HARM: ${complaint}\n`).join('');
  return `${row.target.padEnd(6)} ${row.attack.padEnd(widestName)} ${figures.join('  ')}\n${complaints}`;
}

function refuse(why: string): never {
  process.stderr.write(`${why}\n${usage}\n`);
  process.exit(2);
}
