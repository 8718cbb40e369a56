import { parseArgs } from 'node:util';
import type { BenchOptions, BenchResult } from './bench-result.js';
import { type Comparison, measureBeside } from './beside.js';

interface Bench {
  readonly names: readonly string[];
  /** Whether the benchmark runs only with `--full` or `--only`. */
  readonly isLong?: boolean;
  load(): Promise<{ run(options: BenchOptions): Promise<BenchResult[]> }>;
}

const chatMoves = ['chat-move', 'chat-move-channel'].flatMap((move) =>
  ['sqlite', 'postgres'].flatMap((kind) => ['reads', 'writes'].map((what) => `${move}-${kind}-${what}`)),
);

const chatGrowth = ['chat-growth', 'chat-growth-queues'].flatMap((growth) =>
  ['sqlite', 'postgres'].flatMap((kind) =>
    ['send', 'edit', 'channel'].map((what) => `${growth}-${what}-${kind}`),
  ),
);

const benches: readonly Bench[] = [
  { names: ['open-native', 'open-wasm'], load: () => import('./open.js') },
  { names: ['seal-native', 'seal-wasm'], load: () => import('./seal.js') },
  { names: ['relay-register'], load: () => import('./relay-register.js') },
  { names: ['relay-whole'], load: () => import('./relay-whole.js') },
  { names: ['relay-peer', 'relay-peer-sqlite'], load: () => import('./relay-peer.js') },
  { names: ['register-keys'], load: () => import('./register-keys.js') },
  { names: ['apns-session'], load: () => import('./apns-session.js') },
  { names: ['fcm-session'], load: () => import('./fcm-session.js') },
  { names: ['server-accept'], load: () => import('./server-accept.js') },
  { names: ['server-active'], load: () => import('./server-active.js') },
  { names: ['server-newer'], load: () => import('./server-newer.js') },
  { names: ['notify-single'], load: () => import('./notify-single.js') },
  { names: ['notify-endpoint'], load: () => import('./notify-endpoint.js') },
  {
    names: ['register-newer', 'notify-newer', 'notify-newer-single'],
    load: () => import('./newer-generation.js'),
  },
  { names: ['jobs-sqlite'], load: () => import('./jobs-sqlite.js') },
  {
    names: ['jobs-postgres', 'jobs-postgres-p50', 'jobs-postgres-p99'],
    load: () => import('./jobs-postgres.js'),
  },
  { names: ['chat-send'], load: () => import('./chat-send.js') },
  { names: ['chat-send-one', 'chat-edit', 'chat-channel'], load: () => import('./chat-writes.js') },
  { names: ['chat-fanout'], load: () => import('./chat-fanout.js') },
  { names: ['push-fanout-p50', 'push-fanout-p99'], isLong: true, load: () => import('./push-fanout.js') },
  { names: ['chat-read'], load: () => import('./chat-read.js') },
  { names: ['chat-history'], load: () => import('./chat-history.js') },
  { names: chatMoves, load: () => import('./chat-move.js') },
  { names: ['users-list', 'users-list-hold'], load: () => import('./users-list.js') },
  { names: ['dashboard', 'dashboard-open'], load: () => import('./dashboard.js') },
  { names: ['two-processes'], load: () => import('./two-processes.js') },
  { names: ['overload'], load: () => import('./overload.js') },
  {
    names: [...chatGrowth, 'chat-register'],
    isLong: true,
    load: () => import('./chat-growth.js'),
  },
  { names: ['memory'], isLong: true, load: () => import('./memory.js') },
  { names: ['checkpoint-stall'], isLong: true, load: () => import('./checkpoint-stall.js') },
  {
    names: [
      'p99-seeded-register',
      'p99-seeded-notify',
      'p99-seeded-register-postgres',
      'p99-seeded-notify-postgres',
    ],
    isLong: true,
    load: () => import('./p99-seeded.js'),
  },
  { names: ['register-rows'], isLong: true, load: () => import('./register-rows.js') },
];

const known = benches.flatMap(({ names }) => names);
const values = readArguments();

if (values.beside === undefined) await measureHere();
else await measureInTurns(values.beside);
// Exits even if a benchmark left handles open.
process.exit();

async function measureHere(): Promise<void> {
  const wanted = benches.filter(({ names, isLong = false }) =>
    values.only.length > 0 ? names.some((name) => values.only.includes(name)) : values.full || !isLong,
  );
  const results: BenchResult[] = [];
  for (const bench of wanted) {
    process.stderr.write(`measuring ${bench.names.join(', ')} …\n`);
    try {
      const { run } = await bench.load();
      const measured = await run({ full: values.full });
      results.push(...measured.filter(({ name }) => values.only.length === 0 || values.only.includes(name)));
    } catch (error) {
      // Continues with the next benchmark, because the other figures are still useful.
      process.stderr.write(`${bench.names.join(', ')} failed: ${(error as Error).stack}\n`);
      process.exitCode = 1;
    }
  }
  print(results, table);
}

async function measureInTurns(folder: string): Promise<void> {
  const flags = [...(values.full ? ['--full'] : []), ...values.only.flatMap((name) => ['--only', name])];
  print(await measureBeside({ folder, turns: Number(values.turns), flags }), besideTable);
}

function print<Row>(results: readonly Row[], asTable: (rows: readonly Row[]) => string): void {
  const { version: node } = process;
  process.stdout.write(
    values.json ? `${JSON.stringify({ node, results })}\n` : `Node ${node}\n${asTable(results)}`,
  );
}

function readArguments() {
  try {
    const { values } = parseArgs({
      options: {
        json: { type: 'boolean', default: false },
        full: { type: 'boolean', default: false },
        only: { type: 'string', multiple: true, default: [] },
        beside: { type: 'string' },
        turns: { type: 'string', default: '3' },
      },
    });
    const unknown = values.only.find((name) => !known.includes(name));
    if (unknown !== undefined) return refuse(`there is no benchmark "${unknown}"`);
    if (!/^[1-9]\d?$/.test(values.turns)) return refuse('--turns must be a number from 1 to 99');
    return values;
  } catch (error) {
    return refuse((error as Error).message);
  }
}

function refuse(what: string): never {
  process.stderr.write(
    `${what}; usage: npm run bench -- [--json] [--full] [--only NAME]… [--beside FOLDER [--turns N]] with NAME one of ${known.join(', ')}.\n`,
  );
  process.exit(2);
}

function table(rows: readonly BenchResult[]): string {
  const lines = rows.map(({ name, value, unit, against, ratio, goal, better }) => {
    const met = better === 'higher' ? ratio >= goal : ratio <= goal;
    const bound = better === 'higher' ? 'at least' : 'at most';
    const figures = `${format(value).padStart(10)} against ${format(against).padStart(10)} ${unit.padEnd(18)}`;
    return `${name.padEnd(18)}${figures} ratio ${ratio.toFixed(2)}  goal ${bound} ${goal}  ${met ? 'met' : 'NOT MET'}`;
  });
  return `${lines.join('\n')}\n`;
}

function besideTable(rows: readonly Comparison[]): string {
  const lines = rows.map(({ name, unit, better, here, there, quotient, quotientOfRatios }) => {
    const figures = `${format(here).padStart(10)} here ${format(there).padStart(10)} there ${unit.padEnd(18)}`;
    const quotients = `here/there ${quotient.toFixed(2)}, of the ratios ${quotientOfRatios.toFixed(2)}`;
    return `${name.padEnd(18)}${figures} ${quotients} (${better} is better)`;
  });
  return `${lines.join('\n')}\n`;
}

function format(figure: number): string {
  return figure.toLocaleString('en-US', { maximumFractionDigits: figure < 100 ? 1 : 0 });
}
