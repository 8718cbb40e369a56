import { type ChildProcess, fork, spawn } from 'node:child_process';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Failed, TestRun } from './held-tests.js';
import type { Mutant } from './mutants.js';
import type { Target } from './targets.js';
import { withSwitches } from './with-switches.js';

/**
 * Result for a mutant: detected by a test, rejected by the compiler, survived, or not tried because the tests fail even
 * without it.
 */
export type Verdict = 'killed' | 'does-not-compile' | 'survived' | 'untried';

/** Preserves modification times, which the compiler uses. */
const asTheyAre = { recursive: true, verbatimSymlinks: true, preserveTimestamps: true };
const timeoutMilliseconds = 300_000;
const unchangedBefore = -1;
const unchangedAfter = -2;

/** Prefix for the copy of a test file. Activates a mutant, and skips the remaining tests after the first failure. */
const prefix = (number: number): string =>
  `import { beforeEach as beforeEachOfCopy } from 'vitest'; globalThis.mutant = ${number}; let copyFailed = false; ` +
  'beforeEachOfCopy(({ skip, onTestFailed }) => { skip(copyFailed); onTestFailed(() => { copyFailed = true; }); }); ';

/** A copy of the sources in which mutants are tried one after another. The original files stay unchanged. */
export class Lane {
  readonly #folder = mkdtempSync(join(tmpdir(), 'waxwing-mutation-'));
  #held: ChildProcess | undefined;

  constructor(root: string) {
    for (const name of ['packages', 'apps', 'test', 'docs', 'keys.example', 'README.md']) {
      cpSync(join(root, name), join(this.#folder, name), asTheyAre);
    }
    for (const name of ['package.json', 'tsconfig.json', 'vitest.config.ts']) {
      cpSync(join(root, name), join(this.#folder, name));
    }
    this.#linkDependencies(join(root, 'node_modules'));
  }

  /** Tries each of a file's mutants with the target's tests. */
  async tryAll({ file, tests }: Target, mutants: readonly Mutant[]): Promise<Verdict[]> {
    const text = readFileSync(join(this.#folder, file), 'utf8');
    const killed = await this.#tryTogether(file, text, tests, mutants);
    if (killed === undefined && !(await this.#passes(file, text, tests))) return mutants.map(() => 'untried');
    const verdicts: Verdict[] = [];
    // Tries each undetected mutant alone: the joint run cannot switch mutants in code that runs at load time.
    for (const [index, mutant] of mutants.entries())
      verdicts.push(killed?.has(index) ? 'killed' : await this.#tryAlone(file, mutant, tests));
    return verdicts;
  }

  /** Indices of the mutants that tests detected. `undefined` if the joint run is inconclusive. */
  async #tryTogether(
    file: string,
    text: string,
    tests: readonly string[],
    mutants: readonly Mutant[],
  ): Promise<Set<number> | undefined> {
    const switches = withSwitches(
      text,
      mutants.map(({ edit }) => edit),
    );
    const killed = new Set<number>();
    for (const test of tests) {
      const left = [...mutants.keys()].filter((number) => !killed.has(number));
      // No mutant is active in the first and the last run. If one of them fails, the other runs prove nothing.
      const failed = await this.#run(file, switches, [test], [unchangedBefore, ...left, unchangedAfter]);
      if (failed === undefined || failed.has(unchangedBefore) || failed.has(unchangedAfter)) return undefined;
      for (const number of failed) killed.add(number);
    }
    return killed;
  }

  async #tryAlone(file: string, { text }: Mutant, tests: readonly string[]): Promise<Verdict> {
    if (!(await this.#passes(file, text, tests))) return 'killed';
    const path = join(this.#folder, file);
    const original = readFileSync(path);
    writeFileSync(path, text);
    const compiles = await this.#compiles(file);
    writeFileSync(path, original);
    return compiles ? 'survived' : 'does-not-compile';
  }

  async #passes(file: string, text: string, tests: readonly string[]): Promise<boolean> {
    return (await this.#run(file, text, tests, [unchangedBefore]))?.size === 0;
  }

  /** Replaces the file with `text` and runs the tests once per number. Returns the numbers for which a test failed. */
  async #run(
    file: string,
    text: string,
    tests: readonly string[],
    numbers: readonly number[],
  ): Promise<Set<number> | undefined> {
    const path = join(this.#folder, file);
    const original = readFileSync(path);
    const copies = new Map(
      numbers.flatMap((number) =>
        tests.map((test) => [test.replace(/\.test\.ts$/, `.mutant-${number}.test.ts`), { test, number }]),
      ),
    );
    writeFileSync(path, text);
    for (const [copy, { test, number }] of copies)
      writeFileSync(
        join(this.#folder, copy),
        prefix(number) + readFileSync(join(this.#folder, test), 'utf8'),
      );
    try {
      const failed = await this.#ask({ changed: file, tests: [...copies.keys()] });
      return failed && new Set(failed.flatMap((copy) => copies.get(copy)?.number ?? []));
    } finally {
      writeFileSync(path, original);
      for (const copy of copies.keys()) rmSync(join(this.#folder, copy));
    }
  }

  #ask(run: TestRun): Promise<Failed> {
    this.#held ??= this.#holdTests();
    const held = this.#held;
    return new Promise((resolve) => {
      // A mutant counts as detected if it makes a test run forever.
      const timer = setTimeout(() => killGroup(held), timeoutMilliseconds);
      const end = (failed: Failed): void => {
        clearTimeout(timer);
        held.off('message', told).off('exit', exited);
        resolve(failed);
      };
      const told = ({ failed }: { failed: Failed }): void => end(failed);
      const exited = (): void => end(undefined);
      held.once('message', told).once('exit', exited);
      held.send(run);
    });
  }

  close(): void {
    if (this.#held !== undefined) killGroup(this.#held);
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #holdTests(): ChildProcess {
    const held = fork(join(this.#folder, 'test/mutation/held-tests.ts'), {
      cwd: this.#folder,
      execArgv: ['--conditions=@waxwing/source', '--import', 'tsx'],
      stdio: 'ignore',
      detached: true,
    });
    // The process may exit at any time, including between two runs.
    held.once('exit', () => {
      if (this.#held === held) this.#held = undefined;
    });
    return held;
  }

  #compiles(file: string): Promise<boolean> {
    const project = file.split('/').slice(0, 2).join('/');
    return new Promise((resolve, reject) => {
      const child = spawn('npx', ['--no-install', 'tsc', '-b', project], {
        cwd: this.#folder,
        stdio: 'ignore',
      });
      child.once('error', reject);
      child.once('exit', (code) => resolve(code === 0));
    });
  }

  /** Links npm packages to their installed folders, and this project's packages to the copies. */
  #linkDependencies(installed: string): void {
    const dependencies = join(this.#folder, 'node_modules');
    mkdirSync(dependencies);
    for (const name of readdirSync(installed)) {
      const path = join(dependencies, name);
      if (name === '@waxwing') cpSync(join(installed, name), path, asTheyAre);
      else if (!name.startsWith('.vite')) symlinkSync(join(installed, name), path);
    }
  }
}

/** Kills only the process and its children. */
function killGroup({ pid }: ChildProcess): void {
  process.kill(-(pid as number), 'SIGKILL');
}
