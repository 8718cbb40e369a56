/*
 * Mutation testing (`npm run mutate`): searches for lines that no test guards. Makes one change at a time to copies of
 * the security-relevant sources and the chat's rules, and runs the tests that targets.ts names for each file. First
 * tries many changes in one run, then each undetected change on its own. A survivor needs a test. If no test can detect
 * a change, list it in equivalents.ts with the reason. A whole run takes hours on two cores, so it is not part of the
 * gate. `--each 12` tries at most twelve changes in each file, `--seed 2` selects different changes, and `--line 7`
 * tries only changes in one line. Tests of pure rules take only seconds, so name such tests where they exist.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { equivalents, isChange } from './equivalents.js';
import { Lane, type Verdict } from './lane.js';
import { type Mutant, mutantsOf } from './mutants.js';
import { type Target, targets } from './targets.js';

const usage =
  'npm run mutate -- [--only PART-OF-A-PATH]… [--line N]… [--each 1000] [--most 1000] [--seed 1] [--lanes 2]: changes security-relevant lines one at a time and prints the changes that no test detects.';
/** Number of a file's mutants per joint test run. */
const together = 30;
const root = join(import.meta.dirname, '../..');

interface Candidate extends Mutant {
  readonly target: Target;
}

const options = readArguments();
const candidates = draw(
  targets
    .filter(({ file }) => options.only.length === 0 || options.only.some((part) => file.includes(part)))
    .flatMap((target) =>
      mutantsOf(readFileSync(join(root, target.file), 'utf8')).map((m) => ({ ...m, target })),
    )
    .filter(({ line }) => options.lines.length === 0 || options.lines.includes(line))
    .filter((mutant) => !equivalents.some((e) => e.file === mutant.target.file && isChange(e, mutant))),
);
const verdicts: readonly Verdict[] = ['killed', 'does-not-compile', 'survived', 'untried'];
type Counts = Record<Verdict, number>;
const noCounts: Counts = { killed: 0, 'does-not-compile': 0, survived: 0, untried: 0 };
const counts = new Map<string, Counts>();
const survivors: string[] = [];
await Promise.all(Array.from({ length: options.lanes }, work));
for (const [file, count] of [...counts].sort()) process.stdout.write(describeCounts(file, count));
for (const line of survivors.sort()) process.stdout.write(`${line}\n`);
const total = sum([...counts.values()]);
process.stdout.write(describeCounts('all', total));
process.exit(total.survived + total.untried === 0 ? 0 : 1);

async function work(): Promise<void> {
  const lane = new Lane(root);
  try {
    for (let next = takeSome(); next.length > 0; next = takeSome()) await trySome(lane, next);
  } finally {
    lane.close();
  }
}

/** Returns and removes the next mutants of one file. */
function takeSome(): Candidate[] {
  const file = candidates.at(-1)?.target.file;
  const first = candidates.findIndex(({ target }) => target.file === file);
  return candidates.splice(Math.max(first, candidates.length - together, 0));
}

async function trySome(lane: Lane, some: readonly Candidate[]): Promise<void> {
  const target = (some[0] as Candidate).target;
  const verdictsOfSome = await lane.tryAll(target, some);
  for (const [index, { line, change }] of some.entries()) {
    const verdict = verdictsOfSome[index] as Verdict;
    const ofFile = counts.get(target.file) ?? noCounts;
    counts.set(target.file, { ...ofFile, [verdict]: ofFile[verdict] + 1 });
    const name = `${target.file}:${line}: ${change}`;
    if (verdict === 'survived') survivors.push(`survived  ${name}`);
    process.stderr.write(`${verdict.padEnd(17)} ${name}\n`);
  }
}

function describeCounts(name: string, count: Counts): string {
  const tried = `${count.killed} killed by tests, ${count['does-not-compile']} by the compiler, ${count.survived} survived`;
  const untried = ', not tried because the tests fail without any change';
  return `${name}: ${tried}${count.untried === 0 ? '' : `, ${count.untried}${untried}`}\n`;
}

function sum(all: readonly Counts[]): Counts {
  const total = { ...noCounts };
  for (const each of all) for (const verdict of verdicts) total[verdict] += each[verdict];
  return total;
}

/** Selects random mutants based on the seed, up to the total limit and the limit per file. Groups them by file. */
function draw(all: readonly Candidate[]): Candidate[] {
  let state = options.seed;
  const next = (): number => {
    state = (state * 48_271) % 2_147_483_647;
    return state;
  };
  const drawn = all.map((candidate) => ({ candidate, lot: next() }));
  drawn.sort((a, b) => a.lot - b.lot);
  const ofFiles = new Map<string, number>();
  const few = drawn.filter(({ candidate: { target } }) => {
    const count = (ofFiles.get(target.file) ?? 0) + 1;
    ofFiles.set(target.file, count);
    return count <= options.each;
  });
  const kept = few.slice(0, options.most).map(({ candidate }) => candidate);
  return kept.sort((a, b) => b.target.file.localeCompare(a.target.file));
}

function readArguments(): {
  only: string[];
  lines: number[];
  each: number;
  most: number;
  seed: number;
  lanes: number;
} {
  try {
    const { values } = parseArgs({
      options: {
        only: { type: 'string', multiple: true, default: [] },
        line: { type: 'string', multiple: true, default: [] },
        each: { type: 'string', default: '1000' },
        most: { type: 'string', default: '1000' },
        seed: { type: 'string', default: '1' },
        lanes: { type: 'string', default: '2' },
      },
    });
    const { only, line, each, most, seed, lanes } = values;
    return {
      only,
      lines: line.map(wholeNumber),
      each: wholeNumber(each),
      most: wholeNumber(most),
      seed: wholeNumber(seed),
      lanes: wholeNumber(lanes),
    };
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n${usage}\n`);
    return process.exit(2);
  }
}

function wholeNumber(text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new Error(`"${text}" must be a whole number, at least 1.`);
  return Number(text);
}
