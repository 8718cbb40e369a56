import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Spec, Validation } from '@cyclonedx/cyclonedx-library';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildDebianPackage } from '../../../deploy/packaging/debian-package.js';
import { freePort } from '../../support/free-ports.js';
import { canInstall, DebianRoot, type Program } from './debian-root.js';
import { root } from './installation.js';

const programs: readonly Program[] = ['relay', 'server'];
const mode = (path: string) => (statSync(path).mode & 0o7777).toString(8);
const hash = (path: string) => createHash('sha256').update(readFileSync(path)).digest('hex');

describe.runIf(canInstall)('the Debian packages', () => {
  const built = mkdtempSync(join(tmpdir(), 'waxwing-debs-'));
  const machine = new DebianRoot('20.19.2+dfsg-1');
  let files: readonly string[];
  const build = (program: Program, folder = built) =>
    buildDebianPackage({
      root,
      program,
      folder,
      maintainer: 'Ada <ada@example.com>',
      unixSeconds: 1_800_000_000,
    });

  beforeAll(() => {
    files = programs.map((program) => build(program));
    const installed = machine.dpkg('--install', ...files);
    expect(installed.status, installed.stderr).toBe(0);
  }, 300_000);
  afterAll(() => {
    machine.remove();
    rmSync(built, { recursive: true, force: true });
  });

  it('reject a Node version that is too old', () => {
    const old = new DebianRoot('18.20.4+dfsg-1');
    try {
      const { status, stderr } = old.dpkg('--install', files[0] as string);
      expect(status).toBe(1);
      expect(stderr).toContain('depends on nodejs (>= 20.19)');
    } finally {
      old.remove();
    }
  });

  it.each(programs)('create a user, private folders and private settings for the %s', (program) => {
    const user = machine.userId(program);
    expect(user).toBeGreaterThan(0);
    for (const folder of [`var/lib/waxwing-${program}`, `etc/waxwing/${program}`]) {
      expect([mode(machine.path(folder)), statSync(machine.path(folder)).uid]).toEqual(['700', user]);
    }
    const settings = statSync(machine.path(`etc/waxwing/${program}.env`));
    expect([mode(machine.path(`etc/waxwing/${program}.env`)), settings.uid, settings.gid]).toEqual([
      '640',
      0,
      user,
    ]);
    const unit = readFileSync(machine.path(`usr/lib/systemd/system/waxwing-${program}.service`), 'utf8');
    const [, command = ''] = /^ExecStart=(\S+) serve$/m.exec(unit) ?? [];
    expect(existsSync(machine.path(command))).toBe(true);
    expect(unit).toMatch(/^Type=notify$/m);
  });

  it.each(programs)('run the %s with the operator’s settings', async (program) => {
    const port = await freePort();
    const state = machine.path(`var/lib/waxwing-${program}`);
    const name = program.toUpperCase();
    const settings: Record<string, string> = {
      [`${name}_DATABASE`]: `sqlite:${state}/${program}.sqlite`,
      [`${name}_PORT`]: String(port),
      ...(program === 'relay'
        ? {
            RELAY_KEY_RING: `${state}/key-ring.age`,
            RELAY_KEY_RING_IDENTITY_FILE: machine.path('etc/waxwing/relay/key-ring-identity.txt'),
          }
        : {
            SERVER_UPLOADS: `disk:${state}/uploads`,
            SERVER_KEY_FILE: `${state}/waxwing-server.key`,
            SERVER_REALM_URL: 'https://chat.example.com',
          }),
    };
    const lines = Object.entries(settings).map((entry) => `${entry.join('=')}\n`);
    writeFileSync(machine.path(`etc/waxwing/${program}.env`), lines.join(''));
    if (program === 'relay')
      machine.run('relay', 'keys', 'init', '--recovery-key', `${state}/recovery-key.txt`);
    else machine.run('server', 'db', 'migrate');
    // The audit log shows the numeric id, because this machine's /etc/passwd does not list the user.
    const audit = `${state}/key-ring.age.audit.jsonl`;
    if (program === 'relay') expect(readFileSync(audit, 'utf8')).toContain(`uid ${machine.userId('relay')}`);
    machine.run(program, 'serve', '--check');
    expect(await machine.serve(program, `http://127.0.0.1:${port}/health/ready`)).toBe(0);
  });

  it.each(programs)('preserve settings on an upgrade and data on a purge: %s', (program) => {
    const settings = machine.path(`etc/waxwing/${program}.env`);
    const data = machine.path(`var/lib/waxwing-${program}/kept`);
    const written = `# written by the operator\n${readFileSync(settings, 'utf8')}`;
    writeFileSync(settings, written);
    writeFileSync(data, '');
    const again = machine.dpkg('--install', files[programs.indexOf(program)] as string);
    expect([again.status, readFileSync(settings, 'utf8')], again.stderr).toEqual([0, written]);
    const purged = machine.dpkg('--purge', `waxwing-${program}`);
    expect([purged.status, existsSync(settings), existsSync(data)], purged.stderr).toEqual([0, false, true]);
    expect(existsSync(machine.path(`usr/lib/waxwing-${program}`))).toBe(false);
  });

  it.each(programs)('contain exactly the npm packages that their SBOM lists: %s', async (program) => {
    const folder = join(built, `content-${program}`);
    execFileSync('dpkg-deb', ['--extract', files[programs.indexOf(program)] as string, folder]);
    const document = readFileSync(
      join(folder, `usr/share/doc/waxwing-${program}/waxwing-${program}.cdx.json`),
      'utf8',
    );
    const validator = new Validation.JsonStrictValidator(Spec.Version.v1dot6);
    expect(await validator.validate(document)).toBeNull();
    expect(await validator.validate(document.replace('"bomFormat"', '"format"'))).not.toBeNull();

    const bill = JSON.parse(document) as BillOfMaterials;
    const listed = [bill.metadata.component, ...bill.components].map(({ purl }) => purl);
    expect(listed.sort()).toEqual(packagesIn(join(folder, `usr/lib/waxwing-${program}`)));
    const references = bill.dependencies.flatMap(({ ref, dependsOn }) => [ref, ...dependsOn]);
    expect(references.filter((reference) => !listed.includes(reference))).toEqual([]);
    const unwanted = /@waxwing\/(?:quickstart|vendors|client)\/|\.ts$|\.map$|\/typescript\/|\/vitest\//;
    const content = readdirSync(folder, { recursive: true, encoding: 'utf8' });
    expect(content.filter((path) => unwanted.test(path))).toEqual([]);
  });

  it('are byte-identical when built again with another umask', () => {
    const before = process.umask(0o077);
    try {
      const again = build('relay', join(built, 'again'));
      expect(hash(again)).toBe(hash(files[0] as string));
    } finally {
      process.umask(before);
    }
  });
});

interface BillOfMaterials {
  readonly metadata: { readonly component: { readonly purl: string } };
  readonly components: readonly { readonly purl: string }[];
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[];
}

/** Package URLs of the folders in `node_modules` that have a manifest, sorted and without duplicates. */
function packagesIn(folder: string): readonly string[] {
  const manifests = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((path) =>
    /(?:^|\/)node_modules\/(?:@[^/]+\/)?[^@/][^/]*\/package\.json$/.test(path),
  );
  const urls = manifests.map((path) => {
    const { name, version } = JSON.parse(readFileSync(join(folder, path), 'utf8')) as Record<string, string>;
    return `pkg:npm/${name?.replace('@', '%40')}@${version}`;
  });
  return [...new Set(urls)].sort();
}
