import { execFileSync, type SpawnSyncReturns, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { untilReady } from '../../support/until-ready.js';

export type Program = 'relay' | 'server';

/**
 * Whether dpkg can install packages here. It changes the owners of files, so it needs root even for a separate root
 * folder.
 */
export const canInstall =
  process.getuid?.() === 0 &&
  ['dpkg', 'dpkg-deb', 'systemd-sysusers', 'systemd-tmpfiles', 'setpriv'].every(
    (command) => spawnSync('which', [command]).status === 0,
  );

/**
 * A root folder in which dpkg installs packages as on a separate machine, with its own package list, users and
 * settings.
 */
export class DebianRoot {
  readonly dir = mkdtempSync(join(tmpdir(), 'waxwing-debian-'));

  /** @param nodejs version of Node that dpkg regards as installed when it checks dependencies. */
  constructor(nodejs: string) {
    // World-readable, because the programs run as the users that their packages create.
    chmodSync(this.dir, 0o755);
    for (const folder of ['info', 'updates'])
      mkdirSync(this.path('var/lib/dpkg', folder), { recursive: true });
    mkdirSync(this.path('var/log'), { recursive: true });
    const installed = { nodejs, systemd: '252' };
    const entries = Object.entries(installed).map(([name, version]) =>
      [
        `Package: ${name}`,
        'Status: install ok installed',
        'Maintainer: none',
        'Architecture: all',
        `Version: ${version}`,
        'Description: installed outside of this folder',
      ].join('\n'),
    );
    writeFileSync(this.path('var/lib/dpkg/status'), `${entries.join('\n\n')}\n`);
  }

  path(...parts: readonly string[]): string {
    return join(this.dir, ...parts);
  }

  /** Runs dpkg without chroot. Maintainer scripts get the root folder in DPKG_ROOT. */
  dpkg(...args: readonly string[]): SpawnSyncReturns<string> {
    const flags = [`--root=${this.dir}`, '--force-script-chrootless'];
    return spawnSync('dpkg', [...flags, ...args], { encoding: 'utf8' });
  }

  /** The user that a program's package created. */
  userId(program: Program): number {
    const line = new RegExp(`^waxwing-${program}:x:(\\d+):(\\d+):`, 'm').exec(
      readFileSync(this.path('etc/passwd'), 'utf8'),
    );
    return Number(line?.[1]);
  }

  /**
   * Runs an installed program's command to completion as the program's user, with the installed settings. @returns the
   * command's output.
   */
  run(program: Program, ...args: readonly string[]): string {
    const [command = '', ...rest] = this.#command(program, args);
    return execFileSync(command, rest, this.#options(program));
  }

  /** Starts an installed program as its user, waits until it is ready, and stops it. @returns the exit status. */
  async serve(program: Program, url: string): Promise<number | null> {
    const [command = '', ...rest] = this.#command(program, ['serve']);
    const child = spawn(command, rest, this.#options(program));
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk: Buffer) => {
        output += chunk.toString('utf8');
      });
    }
    const closed = once(child, 'close');
    try {
      await untilReady(url, child, () => output);
    } finally {
      child.kill('SIGTERM');
    }
    const [status] = await closed;
    return status as number | null;
  }

  remove(): void {
    if (existsSync(this.dir)) rmSync(this.dir, { recursive: true });
  }

  #command(program: Program, args: readonly string[]): readonly string[] {
    const id = String(this.userId(program));
    const installed = this.path(`usr/bin/waxwing-${program}`);
    const settings = this.path(`etc/waxwing/${program}.env`);
    return [
      'setpriv',
      '--reuid',
      id,
      '--regid',
      id,
      '--clear-groups',
      installed,
      '--env-file',
      settings,
      ...args,
    ];
  }

  #options(program: Program) {
    const env = { PATH: process.env.PATH };
    return { cwd: this.path(`var/lib/waxwing-${program}`), env, encoding: 'utf8' } as const;
  }
}
