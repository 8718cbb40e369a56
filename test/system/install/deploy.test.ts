import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readRelayEnvironment } from '@waxwing/relay';
import { readServerEnvironment } from '@waxwing/server';
import pg from 'pg';
import { describe, expect, it } from 'vitest';
import { relayOperations } from '#relay/operations.js';
import { eachPostgres, testPostgresUrl } from '../../support/test-databases.js';
import { compose, deploy, environmentOf, example, service } from './deploy-files.js';
import { root } from './installation.js';

/** The variables that a shell or systemd reads from a settings file. */
function settingsIn(file: string): Record<string, string> {
  const lines = execFileSync('env', ['-i', 'sh', '-c', `set -a; . ${join(root, 'deploy', file)}; env`], {
    encoding: 'utf8',
  });
  const own = lines.split('\n').filter((line) => /^(?:RELAY|SERVER)_/.test(line));
  return Object.fromEntries(own.map((line) => [line.split('=', 1)[0], line.slice(line.indexOf('=') + 1)]));
}

describe('the deploy folder', () => {
  it('gives each program in a container all required settings, and no unknown one', () => {
    const relay = readRelayEnvironment(environmentOf('relay', example));
    const server = readServerEnvironment(environmentOf('server', example));
    expect(relay.databaseUrl.reveal()).toBe('postgres://waxwing_relay:change-me@postgres/waxwing_relay');
    expect(server.databaseUrl.reveal()).toBe('postgres://waxwing_server:change-me@postgres/waxwing_server');
    expect(server.relay).toEqual({ kind: 'not-configured' });
    // The key file is on the volume, because `push enable` creates it and the root file system is read-only.
    expect(server.pushAccount.keyFile).toBe('/var/lib/waxwing/waxwing-server.key');

    const upstreams = deploy('compose/upstreams.conf');
    for (const [name, { host, port }] of Object.entries({ relay, server })) {
      expect(host).toBe('0.0.0.0');
      expect(upstreams).toContain(`server ${name}:${port} max_fails=0;`);
      expect(service(name)).toContain(`http://127.0.0.1:${port}/health/live`);
    }
  });

  it('lists in env.example exactly the settings that operators must set', () => {
    const asked = [...compose.matchAll(/\$\{([A-Z_]+):/g)].map(([, name]) => name);
    expect([...new Set(asked)].sort()).toEqual(Object.keys(example).sort());
  });

  it('makes containers trust the proxy’s network, and mounts only existing files', () => {
    const [, subnet = ''] = /subnet: ([\d./]+)/.exec(compose) ?? [];
    expect(environmentOf('relay', {}).RELAY_TRUSTED_PROXIES).toBe(subnet);
    expect(environmentOf('server', {}).SERVER_TRUSTED_PROXIES).toBe(subnet);
    // Operators create the folders for secrets and TLS files.
    const mounted = [...compose.matchAll(/\.(\/[\w./-]+):\//g)].map(([, path]) => path as string);
    const own = mounted.filter((path) => !/^\/(?:secrets|tls)\b/.test(path));
    expect(own.length).toBe(3);
    expect(own.filter((path) => !existsSync(join(root, 'deploy', path)))).toEqual([]);
  });

  it('gives each program one writable volume', () => {
    const programs = ['relay', 'server'].map((name) => [name, service(name)] as const);
    for (const [name, text] of programs) {
      const [, list = ''] = /^ {4}volumes: \[(.*)\]$/m.exec(text) ?? [];
      const written = [...list.matchAll(/'([^']+)'/g)]
        .map(([, mount]) => mount)
        .filter((mount) => !mount?.endsWith(':ro'));
      expect(written).toEqual([`${name}:/var/lib/waxwing`]);
    }
    // Checks that the program writes to its volume.
    expect(readRelayEnvironment(environmentOf('relay', example)).keyRing.location).toEqual({
      kind: 'file',
      path: '/var/lib/waxwing/key-ring.age',
    });
  });

  it('installs only package versions from package-lock.json into the image', () => {
    const commands = [...deploy('Dockerfile').matchAll(/\b(?:npm|npx|yarn|pnpm) [\w-]+/g)].map(
      ([text]) => text,
    );
    expect(commands).toEqual(['npm ci', 'npm run']);
    const copied = [...deploy('Dockerfile').matchAll(/^COPY --from=build (\S+) (\S+)$/gm)];
    expect(copied.map(([, from, to]) => [from, to])).toEqual([['/opt/waxwing', '/opt/waxwing']]);
  });

  it('runs containers without root, capabilities and a writable root file system', () => {
    expect(deploy('Dockerfile')).toMatch(/^USER 1000:1000$/m);
    const [shared = ''] = /^x-program:[\s\S]*?(?=^services:)/m.exec(compose) ?? [];
    for (const line of ['read_only: true', 'cap_drop: [ALL]', "'no-new-privileges:true'"]) {
      expect(shared).toContain(line);
    }
    for (const name of ['relay', 'server']) expect(service(name)).toContain('<<: *program');
  });

  it.each([
    ['relay', readRelayEnvironment],
    ['server', readServerEnvironment],
  ])('has systemd settings that the %s can read', (name, read) => {
    expect(() => read(settingsIn(`${name}.env`))).not.toThrow();
    const unit = deploy(`systemd/waxwing-${name}.service`);
    expect(unit).toContain(`EnvironmentFile=/etc/waxwing/${name}.env`);
    expect(unit).toContain(`StateDirectory=waxwing-${name}`);
  });

  it('lets nginx accept every body that the relay accepts', () => {
    const [, relay = ''] =
      /server_name relay\.example\.com;([\s\S]*)/.exec(deploy('nginx/waxwing.conf')) ?? [];
    const sizeIn = (text: string) => Number(/client_max_body_size (\d+)m;/.exec(text)?.[1]) * 1024 * 1024;
    for (const { path, bodyLimitBytes = 0 } of relayOperations) {
      const own = relay.split(`location = ${path} {`)[1];
      expect([path, sizeIn(own ?? relay)]).toEqual([
        path,
        expect.toSatisfy((size) => size >= bodyLimitBytes),
      ]);
    }
  });

  it('has only files that the installation page names', () => {
    const page = readFileSync(join(root, 'docs/install.md'), 'utf8');
    for (const entry of readdirSync(join(root, 'deploy'))) {
      if (!entry.endsWith('.dockerignore')) expect(page).toContain(entry);
    }
  });
});

eachPostgres(() => {
  it.runIf(spawnSync('psql', ['--version']).status === 0)(
    'the init script of the PostgreSQL container creates a database for each program',
    async () => {
      const url = new URL(testPostgresUrl ?? '');
      const suffix = `_compose_test_${process.pid}`;
      const script = deploy('compose/databases.sh')
        .replaceAll('waxwing_$program', `waxwing_\${program}${suffix}`)
        .replaceAll('--username postgres', `--username ${url.username}`);
      const client = new pg.Client({ connectionString: url.href });
      await client.connect();
      try {
        const env = { PATH: process.env.PATH, PGHOST: url.hostname, PGPORT: url.port || '5432' };
        const passwords = { RELAY_PASSWORD: "it's", SERVER_PASSWORD: 'b' };
        execFileSync('sh', ['-c', script], { env: { ...env, PGPASSWORD: url.password, ...passwords } });
        const { rows } = await client.query(
          'select datname, pg_get_userbyid(datdba) as owner from pg_database where datname like $1 order by 1',
          [`%${suffix}`],
        );
        expect(rows).toEqual(
          ['relay', 'server'].map((name) => ({
            datname: `waxwing_${name}${suffix}`,
            owner: `waxwing_${name}${suffix}`,
          })),
        );
      } finally {
        for (const name of ['relay', 'server']) {
          await client.query(`drop database if exists waxwing_${name}${suffix}`);
          await client.query(`drop role if exists waxwing_${name}${suffix}`);
        }
        await client.end();
      }
    },
  );
});
