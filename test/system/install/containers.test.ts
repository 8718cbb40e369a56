import { execFileSync } from 'node:child_process';
import { readRelayEnvironment } from '@waxwing/relay';
import { readServerEnvironment } from '@waxwing/server';
import { describe, expect, it } from 'vitest';
import { compose, deploy, environmentOf, example, service } from './deploy-files.js';
import { root } from './installation.js';

describe('containers', () => {
  it('run a relay without credentials of vendors until an apps file is named', () => {
    const { RELAY_APPS_FILE, ...others } = example;
    expect(RELAY_APPS_FILE).toBe('/run/waxwing/apps.json');
    expect(readRelayEnvironment(environmentOf('relay', others)).deliveries.apps.kind).toBe('not-configured');
    expect(readRelayEnvironment(environmentOf('relay', example)).deliveries.apps.kind).toBe('configured');
  });

  it('show metrics of containers on the loopback address of their machine alone', () => {
    const relay = readRelayEnvironment(environmentOf('relay', example)).metrics;
    const server = readServerEnvironment(environmentOf('server', example)).metrics;
    for (const [name, metrics] of Object.entries({ relay, server })) {
      expect(metrics).toMatchObject({ kind: 'configured', host: '0.0.0.0' });
      const { port } = metrics as { readonly port: number };
      expect(service(name)).toContain(`ports: ['127.0.0.1:${port}:${port}']`);
    }
  });

  it('give containers the longest drain time and ten seconds to stop', () => {
    expect(compose).toContain('stop_grace_period: 80s');
    for (const name of ['relay', 'server'])
      expect(deploy(`systemd/waxwing-${name}.service`)).toMatch(/^TimeoutStopSec=80$/m);
  });

  it('keep rings, databases and secrets out of images, but no source', () => {
    const patterns = deploy('Dockerfile.dockerignore')
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('#'));
    const expressions = patterns.map(
      (pattern) =>
        new RegExp(
          `^${pattern
            .replaceAll('.', '\\.')
            .replace(/^\*\*\//, '(?:.*/)?')
            .replaceAll(/(?<!\.)\*/g, '[^/]*')}(?:/|$)`,
        ),
    );
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
    ];
    expect(kept.filter((path) => !isIgnored(path))).toEqual([]);
    const sources = execFileSync('git', ['ls-files', 'apps', 'packages', '*.json'], {
      cwd: root,
      encoding: 'utf8',
    });
    expect(sources.trim().split('\n').filter(isIgnored)).toEqual([]);
  });

  it('put neither the quickstart nor the stand-ins into the image', () => {
    const [, removed = ''] = /^RUN rm -r ([\s\S]*?)\n\n/m.exec(deploy('Dockerfile')) ?? [];
    for (const name of ['quickstart', 'vendors'])
      for (const path of [
        `apps/${name}`,
        `node_modules/@waxwing/${name}`,
        `node_modules/.bin/waxwing-${name}`,
      ])
        expect(removed.split(/[\s\\]+/)).toContain(path);
  });
});
