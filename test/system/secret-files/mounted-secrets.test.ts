import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  lchownSync,
  mkdirSync,
  mkdtempSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const user = 65_534;
const other = 7;
const program = fileURLToPath(new URL('../../support/read-private-files.ts', import.meta.url));

/** Runs the program as `user` on files that root has created. Returns one result per file. */
function readAsUser(...paths: string[]): string[] {
  const args = ['--conditions=@waxwing/source', '--import', 'tsx', program, ...paths];
  // Disables the loader's cache, because this user cannot write to its folder.
  const env = { ...process.env, TSX_DISABLE_CACHE: '1' };
  const options = { uid: user, gid: user, env, encoding: 'utf8' } as const;
  return JSON.parse(execFileSync(process.execPath, args, options)) as string[];
}

function openFolder(mode = 0o755): string {
  const folder = mkdtempSync(join(tmpdir(), 'waxwing-mounted-'));
  chmodSync(folder, mode);
  return folder;
}

function put(path: string, { uid = 0, gid = user, mode = 0o440 }): string {
  writeFileSync(path, 'secret');
  chownSync(path, uid, gid);
  chmodSync(path, mode);
  return path;
}

/** Creates a secret file in the layout that kubelet uses. */
function mountSecret(mode: number): string {
  const mount = openFolder(0o1777);
  mkdirSync(join(mount, '..2026_03_01'), { mode: 0o755 });
  put(join(mount, '..2026_03_01', 'key'), { mode });
  symlinkSync('..2026_03_01', join(mount, '..data'));
  symlinkSync('..data/key', join(mount, 'key'));
  return join(mount, 'key');
}

// Only root can create files for other users.
describe.runIf(process.geteuid?.() === 0)('a program that does not run as root', () => {
  it('reads secrets mounted by Kubernetes, Docker and systemd, and its own files and links', () => {
    const credentials = openFolder(0o550);
    chownSync(credentials, 0, user);
    const own = openFolder();
    chownSync(own, user, user);
    put(join(own, 'key'), { uid: user, mode: 0o600 });
    symlinkSync('key', join(own, 'link'));
    lchownSync(join(own, 'link'), user, user);
    symlinkSync(join(own, 'key'), join(own, 'link of root'));
    const paths = [
      mountSecret(0o440),
      mountSecret(0o640),
      put(join(credentials, 'systemd'), {}),
      put(join(openFolder(), 'docker'), { uid: user, mode: 0o400 }),
      ...['key', 'link', 'link of root'].map((name) => join(own, name)),
    ];
    expect(readAsUser(...paths)).toEqual(paths.map(() => 'secret'));
  });

  it('rejects files that others can read, replace or have created, each with a remedy', () => {
    const folder = openFolder(0o1777);
    const key = put(join(folder, 'key'), { uid: user, mode: 0o600 });
    const link = join(folder, 'link');
    symlinkSync(key, link);
    lchownSync(link, other, other);
    const mounted = mountSecret(0o444);
    const foreign = put(join(folder, 'foreign'), { uid: other, gid: user });
    const group = put(join(folder, 'group'), { uid: user, mode: 0o640 });
    const closed = put(join(folder, 'closed'), { gid: 0, mode: 0o400 });
    expect(readAsUser(mounted, foreign, group, link, closed)).toEqual([
      expect.stringMatching(
        /^The file .*\/key \(a key\) has mode 0444, which lets others use it: run chmod 440 /,
      ),
      `The file ${foreign} (a key) belongs to user ${other}, who is neither root nor the user of this program (${user}): run this program as the owner, or run chown ${user} ${foreign} and ask who may have read or changed it.`,
      `The file ${group} (a key) has mode 0640, which lets others use it: run chmod 600 ${group}.`,
      `The file ${link} (a key) is reached by the link ${link} of user ${other}, who is neither root nor the user of this program (${user}): use the path of its target.`,
      `The file ${closed} (a key) cannot be read: permission denied; check its permissions and those of its folders.`,
    ]);
  });
});
