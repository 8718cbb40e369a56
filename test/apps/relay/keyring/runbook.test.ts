import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EnvironmentReader } from '@waxwing/service';
import { describe, expect, it } from 'vitest';
import { readKeyRingEnvironment } from '../../../../apps/relay/src/keyring/key-ring-configuration.js';

const root = join(import.meta.dirname, '../../../..');
const runbook = readFileSync(join(root, 'docs/key-rotation.md'), 'utf8');

describe('the runbook', () => {
  it('has commands that work from the first to the last, on a machine of their own', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'waxwing-runbook-'));
    const blocks = [...runbook.matchAll(/<!-- run by a test -->\n```sh\n([\s\S]*?)```/g)];
    expect(blocks.length).toBeGreaterThan(8);
    for (const name of ['lib', 'etc', 'backups']) mkdirSync(join(folder, name), { mode: 0o700 });
    const commands = blocks
      .map(([, code]) => code)
      .join('')
      .replaceAll('/var/lib/waxwing', join(folder, 'lib'))
      .replaceAll('/etc/waxwing', join(folder, 'etc'))
      .replaceAll('/var/backups', join(folder, 'backups'));
    const relay = `waxwing-relay() { '${process.execPath}' '${join(root, 'apps/relay/bin/waxwing-relay.js')}' "$@"; }`;
    const { PATH = '' } = process.env;
    const script = `set -o pipefail\n${relay}\n${commands}`;
    const child = spawn('bash', ['-euc', script], {
      env: { PATH, HOME: folder },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (data) => (output += String(data)));
    const [status] = await once(child, 'close');
    expect(output).toContain('compromised');
    expect(output).toContain('is sound');
    expect(status, output).toBe(0);
  }, 120_000);

  it('names every setting, with the default that holds', () => {
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
