import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readRelayEnvironment } from '@waxwing/relay';
import { readServerEnvironment } from '@waxwing/server';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { compose, deploy, environmentOf, example, service } from './deploy-files.js';
import { root } from './installation.js';

interface Service {
  readonly depends_on?: readonly string[] | Readonly<Record<string, object>>;
  readonly volumes: readonly string[];
  readonly networks: readonly string[];
}

describe('the container files', () => {
  it('refer only to services, volumes and networks that compose.yaml defines', () => {
    // Fails for invalid YAML, such as a duplicate key.
    const file = parse(compose, { merge: true, strict: true });
    const { services, networks, volumes } = file as Record<string, Record<string, Service>>;
    const all = Object.values(services ?? {});
    expect(Object.keys(services ?? {}).sort()).toEqual(['nginx', 'postgres', 'relay', 'server']);
    const needed = all.flatMap(({ depends_on: on = [] }) => (Array.isArray(on) ? on : Object.keys(on)));
    expect([...new Set(needed)].sort()).toEqual(['postgres', 'relay', 'server']);
    const named = all.flatMap((each) => each.volumes).filter((volume) => !volume.startsWith('./'));
    expect(named.map((volume) => volume.split(':')[0]).sort()).toEqual(Object.keys(volumes ?? {}).sort());
    expect([...new Set(all.flatMap((each) => each.networks))]).toEqual(Object.keys(networks ?? {}));
  });

  it('run a relay without vendor credentials until the operator names an apps file', () => {
    const { RELAY_APPS_FILE, ...others } = example;
    expect(RELAY_APPS_FILE).toBe('/run/waxwing/apps.json');
    expect(readRelayEnvironment(environmentOf('relay', others)).deliveries.apps.kind).toBe('not-configured');
    expect(readRelayEnvironment(environmentOf('relay', example)).deliveries.apps.kind).toBe('configured');
  });

  it('publish the containers’ metrics only on the host’s loopback address', () => {
    const relay = readRelayEnvironment(environmentOf('relay', example)).metrics;
    const server = readServerEnvironment(environmentOf('server', example)).metrics;
    for (const [name, metrics] of Object.entries({ relay, server })) {
      expect(metrics).toMatchObject({ kind: 'configured', host: '0.0.0.0' });
      const { port } = metrics as { readonly port: number };
      expect(service(name)).toContain(`ports: ['127.0.0.1:${port}:${port}']`);
    }
  });

  it('give containers the longest drain time plus twenty seconds to stop', () => {
    expect(compose).toContain('stop_grace_period: 80s');
    for (const name of ['relay', 'server'])
      expect(deploy(`systemd/waxwing-${name}.service`)).toMatch(/^TimeoutStopSec=80$/m);
  });

  it('keep key rings, databases and secrets out of images, but no source file', () => {
    const patterns = deploy('Dockerfile.dockerignore')
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('#'));
    const expressions = patterns.map((pattern) => {
      const [, anywhere, name = ''] = /^(\*\*\/)?(.*)$/.exec(pattern) ?? [];
      const expression = name.replaceAll('.', '\\.').replaceAll('*', '[^/]*');
      return new RegExp(`^${anywhere === undefined ? '' : '(?:.*/)?'}${expression}(?:/|$)`);
    });
    const isIgnored = (path: string) => expressions.some((expression) => expression.test(path));
    const kept = [
      'relay.sqlite',
      'relay.sqlite-wal',
      'apps/server/server.sqlite',
      'key-ring.age',
      'key-ring.age.audit.jsonl',
      'key-ring.age.sock',
      'key-ring-identity.txt',
      'deploy/recovery-key.txt',
      'waxwing-server.key',
      'uploads/1',
      'deploy/secrets/relay/apps.json',
      'deploy/tls/chat.pem',
      'deploy/.env',
      'deploy/.env.production',
      'AuthKey_KEY1234567.p8',
      'apps.json',
    ];
    expect(kept.filter((path) => !isIgnored(path))).toEqual([]);
    const sources = execFileSync('git', ['ls-files', 'apps', 'packages', '*.json'], {
      cwd: root,
      encoding: 'utf8',
    });
    expect(sources.trim().split('\n').filter(isIgnored)).toEqual([]);
  });

  it('add both programs and their SBOMs to the image, without the quickstart and the stand-ins', () => {
    const folder = mkdtempSync(join(tmpdir(), 'waxwing-image-'));
    try {
      const [, command = ''] =
        /npm run --silent (production) -- \/opt\/waxwing$/m.exec(deploy('Dockerfile')) ?? [];
      const env = { ...process.env, SOURCE_DATE_EPOCH: '1800000000' };
      execFileSync('npm', ['run', '--silent', command, '--', folder], { cwd: root, env });
      for (const name of ['waxwing-relay', 'waxwing-server']) {
        const program = join(folder, 'node_modules/.bin', name);
        expect(execFileSync(program, ['--version'], { encoding: 'utf8' })).toBe('0.1.0\n');
        const bill = JSON.parse(readFileSync(join(folder, `${name}.cdx.json`), 'utf8'));
        expect(bill.metadata.timestamp).toBe('2027-01-15T08:00:00.000Z');
      }
      const own = readdirSync(join(folder, 'node_modules/@waxwing'));
      expect(own).toContain('dashboard');
      expect(own).not.toContain('quickstart');
      expect(own).not.toContain('vendors');
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('name base images by the digests in docs/dependencies.md', () => {
    const page = readFileSync(join(root, 'docs/dependencies.md'), 'utf8');
    const used = [...`${deploy('Dockerfile')}\n${compose}`.matchAll(/^(?:FROM|\s+image:) (\S+)/gm)]
      .map(([, image]) => image as string)
      .filter((image) => image !== 'waxwing');
    const listed = [...page.matchAll(/^\| `(\S+:\S+)` \| `(sha256:[0-9a-f]{64})` \|/gm)];
    expect([...new Set(used)].sort()).toEqual(listed.map(([, image, digest]) => `${image}@${digest}`).sort());
  });
});
