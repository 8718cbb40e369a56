import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { type BenchResult, median } from './bench-result.js';

export interface BesideOptions {
  /** Another checkout of this repository, with its dependencies installed. */
  readonly folder: string;
  readonly turns: number;
  /** Flags of `npm run bench`. */
  readonly flags: readonly string[];
}

export interface Comparison {
  readonly name: string;
  readonly unit: string;
  readonly better: BenchResult['better'];
  readonly here: number;
  readonly there: number;
  /** Median over all rounds of this checkout's figure, divided by the other checkout's figure. */
  readonly quotient: number;
  /** Like `quotient`, but with each figure divided by the limit or peer of its own run. */
  readonly quotientOfRatios: number;
}

/** Measures this checkout and another checkout alternately, each with its own benchmarks and build. */
export async function measureBeside({ folder, turns, flags }: BesideOptions): Promise<Comparison[]> {
  const here: BenchResult[][] = [];
  const there: BenchResult[][] = [];
  for (let turn = 1; turn <= turns; turn += 1) {
    process.stderr.write(`turn ${turn} of ${turns} …\n`);
    const runs = [
      async () => here.push(await runBench(process.cwd(), flags)),
      async () => there.push(await runBench(folder, flags)),
    ];
    // Alternates the order, because the machine's state may differ between the first and second run of a pair.
    for (const run of turn % 2 === 1 ? runs : runs.reverse()) await run();
  }
  return compareRuns(here, there);
}

/** Compares the figures that both checkouts measured in every round. Each round has one run per checkout. */
export function compareRuns(
  here: readonly (readonly BenchResult[])[],
  there: readonly (readonly BenchResult[])[],
): Comparison[] {
  const [first = []] = here;
  return first.flatMap(({ name, unit, better }) => {
    const ours = here.flatMap((run) => run.find((result) => result.name === name) ?? []);
    const theirs = there.flatMap((run) => run.find((result) => result.name === name) ?? []);
    if (ours.length < here.length || theirs.length < here.length) return [];
    const quotient = (figure: 'value' | 'ratio') =>
      median(ours.map((result, turn) => result[figure] / (theirs[turn] as BenchResult)[figure]));
    return {
      name,
      unit,
      better,
      here: median(ours.map(({ value }) => value)),
      there: median(theirs.map(({ value }) => value)),
      quotient: quotient('value'),
      quotientOfRatios: quotient('ratio'),
    };
  });
}

async function runBench(cwd: string, flags: readonly string[]): Promise<BenchResult[]> {
  const argv = ['run', '--silent', 'bench', '--', '--json', ...flags];
  const { stdout } = await promisify(execFile)('npm', argv, { cwd, maxBuffer: 2 ** 24 });
  return (JSON.parse(stdout) as { results: BenchResult[] }).results;
}
