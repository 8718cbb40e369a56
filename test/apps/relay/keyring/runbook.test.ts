import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EnvironmentReader } from '@waxwing/service/config';
import { describe, expect, it } from 'vitest';
import { readKeyRingEnvironment } from '#relay/keyring/storage/key-ring-configuration.js';
import { answersHeld } from '../../../support/program-answers.js';
import { eachPostgres } from '../../../support/test-databases.js';

const root = join(import.meta.dirname, '../../../..');
const runbook = readFileSync(join(root, 'docs/key-rotation.md'), 'utf8');
const scaling = readFileSync(join(root, 'docs/scaling.md'), 'utf8');

function commandsOf(page: string): string[] {
  return [...page.matchAll(/<!-- run by a test -->\n```sh\n([\s\S]*?)```/g)].map(([, code = '']) => code);
}

/** Runs commands in `folder`, as an operator would type them. */
async function runScript(folder: string, commands: string, environment: Record<string, string> = {}) {
  const relay = `waxwing-relay() { '${process.execPath}' '${join(root, 'apps/relay/bin/waxwing-relay.js')}' "$@"; }`;
  const { PATH = '' } = process.env;
  const child = spawn('bash', ['-euc', `set -o pipefail\n${relay}\n${commands}`], {
    cwd: folder,
    env: { PATH, HOME: folder, ...answersHeld, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (data) => (output += String(data)));
  const [status] = await once(child, 'close');
  return { status: status as number, output };
}

describe('the runbook', () => {
  it('contains commands that work in sequence on a fresh machine', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'waxwing-runbook-'));
    const blocks = commandsOf(runbook);
    expect(blocks.length).toBeGreaterThan(11);
    for (const name of ['lib', 'etc', 'backups']) mkdirSync(join(folder, name), { mode: 0o700 });
    const commands = blocks
      .join('')
      .replaceAll('/var/lib/waxwing', join(folder, 'lib'))
      .replaceAll('/etc/waxwing', join(folder, 'etc'))
      .replaceAll('/var/backups', join(folder, 'backups'));
    const { status, output } = await runScript(folder, commands);
    expect(output).toContain('compromised');
    expect(output).toContain('is sound');
    expect(output).toContain("The key ring is in the relay's database.");
    expect(status, output).toBe(0);
  }, 300_000);

  it('lists every setting with its actual default', () => {
    const asked: string[] = [];
    class NotingReader extends EnvironmentReader {
      override optional(name: string): string | undefined {
        asked.push(name);
        return super.optional(name);
      }
    }
    const { policy } = readKeyRingEnvironment(new NotingReader({}, 'RELAY_'));
    const documented = [...runbook.matchAll(/^\| `(RELAY_\w+)` \|([^|]*)\|/gm)];
    expect(documented.map(([, name]) => name).sort()).toEqual(asked.map((name) => `RELAY_${name}`).sort());
    const defaults = new Map(documented.map(([, name, value]) => [name, Number(value)]));
    const day = 86_400_000;
    expect(policy.rotateAfterMilliseconds / day).toBe(defaults.get('RELAY_KEY_ROTATE_DAYS'));
    expect(policy.acceptForMilliseconds / day).toBe(defaults.get('RELAY_KEY_ACCEPT_DAYS'));
    expect(policy.unusedForMilliseconds / day).toBe(defaults.get('RELAY_KEY_UNUSED_DAYS'));
    expect(policy.listValidMilliseconds / day).toBe(defaults.get('RELAY_KEY_LIST_VALID_DAYS'));
  });
});

describe('docs/scaling.md', () => {
  eachPostgres((postgres) => {
    it('contains commands that move a relay and its key ring to PostgreSQL', async () => {
      const folder = mkdtempSync(join(tmpdir(), 'waxwing-scaling-'));
      const [block = '', ...others] = commandsOf(scaling);
      expect(others).toEqual([]);
      const commands = block
        .replace('postgres://waxwing@db.example.org/relay', await postgres.freshUrl())
        .replaceAll('/var/lib/waxwing', folder);
      const before =
        'waxwing-relay keys init\nwaxwing-relay servers add --realm 9aa61d0b-8ce5-488d-8e9e-fedc346e6836\n';
      const { status, output } = await runScript(folder, before + commands, {
        RELAY_KEY_RING_IDENTITY_FILE: join(folder, 'identity'),
      });
      expect(status, output).toBe(0);
      expect(output).toContain("The key ring in the relay's database is sound");
    }, 300_000);
  });
});
