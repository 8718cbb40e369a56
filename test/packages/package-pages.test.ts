import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ProtocolError } from '@waxwing/protocol';
import { expect, it } from 'vitest';
import { mountServerPush } from '../../docs/examples/mount-server-push.js';
import { notifyUser } from '../../docs/examples/send-notification.js';
import { userId } from '../support/ids.js';

const root = join(import.meta.dirname, '../..');
const packages = readdirSync(join(root, 'packages'));
const apps = readdirSync(join(root, 'apps'));

function pageOf(name: string): string {
  return readFileSync(join(root, 'packages', name, 'README.md'), 'utf8');
}

function blocksOf(page: string, language: string): string[] {
  return [...page.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)].flatMap(([, is, code = '']) =>
    is === language ? [code] : [],
  );
}

it.each(packages)('the page of packages/%s names each of its entry points', (name) => {
  const page = pageOf(name);
  const manifest = JSON.parse(readFileSync(join(root, 'packages', name, 'package.json'), 'utf8')) as {
    name: string;
    exports: Record<string, unknown>;
  };
  const doors = Object.keys(manifest.exports);
  expect(doors.length).toBeGreaterThan(0);
  for (const door of doors) {
    expect(page).toContain(`\`${manifest.name}${door.slice(1)}\``);
  }
});

it.each([...packages.map((name) => `packages/${name}`), ...apps.map((name) => `apps/${name}`)])(
  'the page of %s links only to files in its package, and mentions no registry',
  (folder) => {
    const page = readFileSync(join(root, folder, 'README.md'), 'utf8');
    const links = [...page.matchAll(/\]\((?![a-z]+:)([^)#]+)\)/g)].map(([, link]) => link as string);
    expect(links.filter((link) => link.startsWith('..') || !existsSync(join(root, folder, link)))).toEqual(
      [],
    );
    expect(page).not.toMatch(/npm install .*@waxwing/);
  },
);

it.each(['protocol', 'markdown'])('the example of %s prints the output in its comments', (name) => {
  const [example = ''] = blocksOf(pageOf(name), 'js');
  const said = [...example.matchAll(/^console\.log\(.*\); \/\/ (.+)$/gm)].map(([, text]) => text);
  expect(said.length).toBeGreaterThan(2);
  const flags = ['--conditions=@waxwing/source', '--import=tsx', '--input-type=module', '--eval', example];
  const run = spawnSync(process.execPath, flags, {
    cwd: join(root, 'packages/client'),
    encoding: 'utf8',
  });
  expect(run.stderr).toBe('');
  expect(run.stdout.trim().split('\n')).toEqual(said);
});

it('the example in the client’s README is the example that its test runs', () => {
  const readme = readFileSync(join(root, 'README.md'), 'utf8');
  expect(blocksOf(pageOf('client'), 'ts')).toEqual(blocksOf(readme, 'ts'));
});

it('the example of server-push mounts it', async () => {
  const example = readFileSync(join(root, 'docs/examples/mount-server-push.ts'), 'utf8');
  const sending = readFileSync(join(root, 'docs/examples/send-notification.ts'), 'utf8');
  expect(blocksOf(pageOf('server-push'), 'ts')).toEqual([example, sending]);

  const folder = mkdtempSync(join(tmpdir(), 'waxwing-mounted-'));
  const { database, push } = await mountServerPush({
    databaseUrl: `sqlite:${join(folder, 'server.sqlite')}`,
    authenticate: async () => {
      throw new ProtocolError('UNAUTHORIZED');
    },
    publish: async () => {},
    realm: {
      uuid: '9aa61d0b-8ce5-488d-8e9e-fedc346e6836',
      url: 'https://chat.example.com',
      name: 'Example',
    },
    relay: { kind: 'not-configured' },
  });
  expect(push.operations.map(({ declared }) => declared.path)).toContain('/api/v1/mobile_push/register');
  expect(await push.pushDevicesOf(userId(1))).toEqual({});
  const notice = { messageId: 1, senderId: userId(2), senderName: 'Ada', senderPicture: '', text: 'Hello' };
  expect(await notifyUser(push, userId(1), notice)).toBe('Not sent: the organization has no relay.');
  await database.close();
  await push.close();
  rmSync(folder, { recursive: true });
});
