import { execFileSync, spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { dirname, join, relative } from 'node:path';
import { build } from 'vite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hasChromium, launch } from '../../browser/open-page.js';
import { eachPostgres, testPostgresUrl } from '../../support/test-databases.js';
import type { Options, Registered } from './app.js';
import { Installation, linesMarked, root } from './installation.js';
import { packAgain } from './second-build.js';

declare const register: (options: Options) => Promise<Registered>;

const packages = ['packages', 'apps'].flatMap((parent) =>
  readdirSync(join(root, parent)).map((name) => ({ name, folder: join(root, parent, name) })),
);
const hasNginx = spawnSync('nginx', ['-v'], { env: { PATH: `${process.env.PATH}:/usr/sbin` } }).status === 0;

/**
 * Strict compiler options, for Node's module resolution. With bundler resolution, or without browser types, the code is
 * only type-checked.
 */
const strict = { target: 'ES2023', lib: ['ES2023', 'DOM'], types: [], strict: true, skipLibCheck: false };
const plain = { ...strict, target: 'ES2022', lib: ['ES2022'], noEmit: true };
const configurations: Record<string, object> = {
  nodenext: { ...strict, module: 'NodeNext', outDir: 'out' },
  bundler: { ...strict, module: 'Preserve', moduleResolution: 'Bundler', noEmit: true },
  'nodenext-without-dom': { ...plain, module: 'NodeNext' },
  'bundler-without-dom': { ...plain, module: 'Preserve', moduleResolution: 'Bundler' },
  'source-condition': { ...plain, module: 'NodeNext', customConditions: ['source'] },
  'node16-commonjs': { ...strict, module: 'Node16', noEmit: true },
  'node18-commonjs': { ...strict, module: 'Node18', noEmit: true },
};

/** Waits for the first delivery to a token at the stand-in for Google. Returns its message data. */
async function deliveredTo(vendorsUrl: string, token: string): Promise<Record<string, string>> {
  for (;;) {
    const answer = await (await fetch(`${vendorsUrl}/deliveries?token=${token}`)).json();
    const [delivery] = (answer as { deliveries: { body: { message: { data: Record<string, string> } } }[] })
      .deliveries;
    if (delivery !== undefined) return delivery.body.message.data;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

const isForTrials = (name: string) => name === 'quickstart' || name === 'vendors';

function sourcesOf(map: string): string[] {
  const { sources } = JSON.parse(readFileSync(map, 'utf8')) as { sources: string[] };
  return sources.map((source) => join(dirname(map), source));
}

eachPostgres(() => {
  describe.runIf(hasNginx)('the installation from packed tarballs that docs/install.md describes', () => {
    let installation: Installation;
    let vendorsUrl: string;
    let app: string;

    beforeAll(async () => {
      installation = await Installation.create(testPostgresUrl ?? '');
      app = join(installation.dir, 'app');
      mkdirSync(app);
      vendorsUrl = (await installation.run()).urls.http;
      await installation.shell(linesMarked('run by a test: app'), app);
      for (const name of ['app.ts', 'app.cts']) {
        writeFileSync(join(app, name), readFileSync(join(import.meta.dirname, 'app.ts')));
      }
      for (const [name, compilerOptions] of Object.entries(configurations)) {
        writeFileSync(
          join(app, `tsconfig.${name}.json`),
          JSON.stringify({ compilerOptions, files: [name.endsWith('commonjs') ? 'app.cts' : 'app.ts'] }),
        );
      }
      // Takes half a minute on a quiet machine: npm unpacks two hundred packages.
    }, 400_000);
    afterAll(() => installation?.close());

    function newAccount(): Options {
      const name = randomUUID();
      const args = ['users', 'add', '--email', `${name}@example.com`, '--name', name];
      const user = installation.command<{ user_id: number; email: string; api_key: string }>('server', args);
      const { keys } = installation.command<{ keys: { public_key: string }[] }>('relay', ['keys', 'list']);
      const { user_id: userId, email, api_key: apiKey } = user;
      return {
        bouncerPublicKey: keys[0]?.public_key ?? '',
        token: `token-of-${name}`,
        account: { realmUrl: installation.serverUrl, userId, email, apiKey },
      };
    }

    it('contains neither the quickstart nor the stand-ins nor development packages', () => {
      const installed = readdirSync(join(installation.dir, 'opt/node_modules'));
      const own = readdirSync(join(installation.dir, 'opt/node_modules/@waxwing'));
      expect(own).toEqual(packages.flatMap(({ name }) => (isForTrials(name) ? [] : [name])).sort());
      const development = [
        'typescript',
        'vite',
        'vitest',
        'reflect-metadata',
        '@opentelemetry/sdk-trace-node',
      ];
      expect(installed.filter((name) => development.includes(name))).toEqual([]);
      const modules = join(installation.dir, 'opt/node_modules');
      const files = readdirSync(modules, { recursive: true, withFileTypes: true }).filter((entry) =>
        entry.isFile(),
      );
      const bytes = files.reduce(
        (sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size,
        0,
      );
      expect(bytes / 1024 ** 2).toBeLessThan(170);
    });

    it('has the same tarballs as a build in another folder', () => {
      const folder = join(installation.dir, 'second-build');
      const tarballs = join(folder, 'tarballs');
      mkdirSync(tarballs, { recursive: true });
      const names = packages.filter(({ name }) => !isForTrials(name));
      packAgain(
        names.map((each) => relative(root, each.folder)),
        folder,
        tarballs,
      );
      const built = readdirSync(tarballs);
      expect(built.length).toBe(names.length);
      const differs = (name: string) =>
        !readFileSync(join(tarballs, name)).equals(readFileSync(join(installation.dir, 'tarballs', name)));
      expect(built.filter(differs)).toEqual([]);
    }, 300_000);

    it.each(packages)(
      'has a tarball of $name with exactly its README, license, types and sources',
      ({ name, folder }) => {
        const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
        expect(manifest.keywords.length).toBeGreaterThan(2);
        const folderOfTarball = isForTrials(name) ? 'tarballs/trial' : 'tarballs';
        const tarball = join(installation.dir, folderOfTarball, `waxwing-${name}-${manifest.version}.tgz`);
        const files = execFileSync('tar', ['-tzf', tarball], { encoding: 'utf8' }).trim().split('\n');
        const first = files.map((file) => file.split('/')[1]);
        const parts = ['LICENSE', 'README.md', 'dist', 'package.json', 'src'];
        expect([...new Set(first)].sort()).toEqual(
          [
            ...parts,
            ...(manifest.bin === undefined ? [] : ['bin']),
            ...(manifest.bundleDependencies === undefined ? [] : ['commonjs', 'node_modules']),
            ...(name === 'client' ? ['app.plugin.js', 'expo', 'jest-setup.cjs', 'native'] : []),
          ].sort(),
        );
        expect(files.filter((file) => file.includes('tsbuildinfo'))).toEqual([]);
        const unpacked = join(installation.dir, 'unpacked', name, 'package');
        mkdirSync(dirname(unpacked), { recursive: true });
        execFileSync('tar', ['-xzf', tarball, '-C', dirname(unpacked)]);
        expect(readFileSync(join(unpacked, 'LICENSE'), 'utf8')).toBe(
          readFileSync(join(root, 'LICENSE'), 'utf8'),
        );
        const maps = files
          .filter((file) => file.endsWith('.map'))
          .map((file) => file.slice('package/'.length));
        expect(maps.length).toBeGreaterThan(0);
        const sources = maps.flatMap((map) => sourcesOf(join(unpacked, map)));
        expect(sources.filter((source) => !existsSync(source))).toEqual([]);
      },
    );

    it.each(Object.keys(configurations))('lets a strict app type-check with the options %s', (name) => {
      const tsc = join(root, 'node_modules/.bin/tsc');
      const run = spawnSync(tsc, ['-p', `tsconfig.${name}.json`], { cwd: app, encoding: 'utf8' });
      expect([run.status, run.stdout]).toEqual([0, '']);
    });

    it('has a client package that can be loaded by require()', () => {
      const script = `
        const { createPushClient } = require('@waxwing/client');
        const { createOpener } = require('@waxwing/client/open');
        const { handlePushes } = require('@waxwing/client/service-worker');
        console.log(typeof createPushClient, typeof createOpener, typeof handlePushes);`;
      const run = spawnSync(process.execPath, ['--eval', script], { cwd: app, encoding: 'utf8' });
      expect([run.stdout, run.stderr]).toEqual(['function function function\n', '']);
    });

    it('lets a Node app register and open a notification', async () => {
      const options = newAccount();
      const script = `
        import './out/app.js';
        const { code, open } = await register(JSON.parse(process.env.OPTIONS));
        process.stdin.once('data', async (data) => {
          const { kind, notification } = await open(JSON.parse(data));
          console.log(JSON.stringify([code, kind, notification.type]));
        });`;
      const env = { OPTIONS: JSON.stringify(options), NODE_EXTRA_CA_CERTS: installation.certificate };
      const running = installation.start(
        process.execPath,
        ['--input-type=module', '--eval', script],
        app,
        env,
      );
      running.stdin?.end(JSON.stringify(await deliveredTo(vendorsUrl, options.token)));
      expect(await installation.printed(running, /^\[.*\]$/m)).toBe('["active","notification","test"]');
    });

    it.runIf(hasChromium())(
      'lets a page built by Vite register and open a notification in a browser',
      async () => {
        await build({
          root: app,
          configFile: false,
          logLevel: 'silent',
          build: {
            rolldownOptions: {
              input: join(app, 'app.ts'),
              output: { entryFileNames: 'page.js', codeSplitting: false },
            },
          },
        });
        const browser = await launch(join(installation.dir, 'profile'), { ignoreHTTPSErrors: true });
        try {
          const page = await browser.newPage();
          const problems: string[] = [];
          page.on('pageerror', (error) => problems.push(String(error)));
          // The page is on the server's own origin, like an organization's web app.
          const at = `${installation.serverUrl}/app/`;
          await page.route(at, (route) =>
            route.fulfill({
              contentType: 'text/html',
              body: '<!doctype html><script type="module" src="page.js"></script>',
            }),
          );
          await page.route(`${at}page.js`, (route) => route.fulfill({ path: join(app, 'dist/page.js') }));
          await page.goto(at);
          await page.waitForFunction(() => 'register' in globalThis);
          const options = newAccount();
          const registered = await page.evaluateHandle((given) => register(given), options);
          const data = await deliveredTo(vendorsUrl, options.token);
          const opened = await registered.evaluate(async ({ code, open }, received) => {
            const what = await open(received);
            return [code, what.kind, what.kind === 'notification' && what.notification.type];
          }, data);
          expect(opened).toEqual(['active', 'notification', 'test']);
          expect(problems).toEqual([]);
        } finally {
          await browser.close();
        }
      },
    );

    it('serves relay and server by TLS under their names, redirects HTTP, and trusts the proxy', async () => {
      const plain = await fetch(`${installation.httpUrl}/api/v1/server_settings`, { redirect: 'manual' });
      expect([plain.status, plain.headers.get('location')]).toEqual([
        301,
        'https://localhost/api/v1/server_settings',
      ]);
      const ca = readFileSync(installation.certificate);
      const status = (url: string) =>
        new Promise((resolve, reject) => {
          const asked = request(url, { ca }, (response) => resolve(response.resume().statusCode));
          asked.on('error', reject).end();
        });
      expect(await status(`${installation.serverUrl}/api/v1/server_settings`)).toBe(200);
      expect(await status(`${installation.relayUrl}/health/live`)).toBe(200);
      expect(await status(`${installation.relayUrl}/api/v1/server_settings`)).toBe(404);
      for (const program of ['relay', 'server']) {
        const log = readFileSync(join(installation.dir, `lib/waxwing-${program}/${program}.log`), 'utf8');
        // A program would warn if the proxy were not configured.
        expect(log).not.toContain('TRUSTED_PROXIES');
        expect(log).not.toMatch(/"level":"?(?:error|50|warn|40)/);
      }
    });

    it.runIf(existsSync('/usr/bin/systemd-analyze')).each(['relay', 'server'])(
      'has a hardened unit for waxwing-%s that systemd accepts',
      (program) => {
        const unit = join(installation.dir, `deploy/systemd/waxwing-${program}.service`);
        const verify = spawnSync('systemd-analyze', ['verify', '--man=no', unit], { encoding: 'utf8' });
        expect([verify.status, verify.stderr]).toEqual([0, '']);
        // The exposure level ranges from 0 (fully isolated) to 10 (a usual unit has 9.6). The threshold is in tenths.
        const flags = ['security', '--offline=true', '--no-pager', '--threshold=20', unit];
        const exposed = spawnSync('systemd-analyze', flags, { encoding: 'utf8' });
        expect(exposed.status, exposed.stdout).toBe(0);
      },
    );
  });
});
