import { spawn } from 'node:child_process';
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

/** How a mutant ended: noticed by a test, refused by the compiler, or noticed by nobody. */
export type Verdict = 'killed' | 'does-not-compile' | 'survived';

const timeoutMilliseconds = 180_000;

/** A copy of the sources in which mutants are tried, one after the other, so that the sources themselves stay as they are. */
export class Lane {
  readonly #folder = mkdtempSync(join(tmpdir(), 'waxwing-mutation-'));

  constructor(root: string) {
    for (const name of ['packages', 'apps', 'test', 'docs', 'keys.example', 'README.md']) {
      cpSync(join(root, name), join(this.#folder, name), { recursive: true, verbatimSymlinks: true });
    }
    for (const name of ['package.json', 'tsconfig.json', 'vitest.config.ts']) {
      cpSync(join(root, name), join(this.#folder, name));
    }
    this.#linkDependencies(join(root, 'node_modules'));
  }

  /** Tries the text in place of the file's own with the tests named. */
  async try(file: string, text: string, tests: readonly string[]): Promise<Verdict> {
    const path = join(this.#folder, file);
    const original = readFileSync(path);
    writeFileSync(path, text);
    try {
      if (!(await this.passes(tests))) return 'killed';
      return (await this.#succeeds(['tsc', '-b'])) ? 'survived' : 'does-not-compile';
    } finally {
      writeFileSync(path, original);
    }
  }

  /** Whether the tests pass with the sources as they are in this copy. */
  passes(tests: readonly string[]): Promise<boolean> {
    // One process for all of them: starting one costs more than most tests.
    const oneProcess = ['--no-isolate', '--maxWorkers=1'];
    // A mutant often leaves a test waiting for what never comes.
    const patience = ['--testTimeout=20000', '--hookTimeout=20000', '--expect.poll.timeout=10000'];
    return this.#succeeds([
      'vitest',
      'run',
      ...oneProcess,
      ...patience,
      '--bail=1',
      '--retry=0',
      '--reporter=dot',
      ...tests,
    ]);
  }

  close(): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }

  /** Whatever is not the project's own stays where it is; the project's own packages are the copies. */
  #linkDependencies(installed: string): void {
    const dependencies = join(this.#folder, 'node_modules');
    mkdirSync(dependencies);
    for (const name of readdirSync(installed)) {
      const path = join(dependencies, name);
      if (name === '@waxwing')
        cpSync(join(installed, name), path, { recursive: true, verbatimSymlinks: true });
      else if (!name.startsWith('.vite')) symlinkSync(join(installed, name), path);
    }
  }

  #succeeds(command: readonly string[]): Promise<boolean> {
    return new Promise((resolve, reject) => {
      const child = spawn('npx', ['--no-install', ...command], {
        cwd: this.#folder,
        stdio: 'ignore',
        detached: true,
      });
      // A mutant that never ends is noticed, too. Its whole process group goes, and nothing else.
      const timer = setTimeout(() => process.kill(-(child.pid as number), 'SIGKILL'), timeoutMilliseconds);
      child.once('error', reject);
      child.once('exit', (code) => {
        clearTimeout(timer);
        resolve(code === 0);
      });
    });
  }
}
