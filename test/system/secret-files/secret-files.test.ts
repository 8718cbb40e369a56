import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  lchownSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type SecretFileReader, secretFileReaders } from './readers.js';

const isRoot = process.geteuid?.() === 0;
const foreigner = 65_534;

function freshFolder(): string {
  return mkdtempSync(join(tmpdir(), 'waxwing-secret-'));
}

function put(path: string, content: string, mode = 0o600): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  writeFileSync(path, content, { mode: 0o600 });
  chmodSync(path, mode);
}

/** Creates a link at `path` to a new file in another private folder. */
function putLink(path: string, content: string): string {
  const target = join(freshFolder(), basename(path));
  put(target, content);
  symlinkSync(target, path);
  return target;
}

/**
 * Creates a file with the layout that Kubernetes uses: the file is a link into `..data`, which is a link to a folder
 * named after a date.
 */
function putMounted(path: string, content: string, mode: number): void {
  const mount = dirname(path);
  put(join(mount, '..2026_03_01', basename(path)), content, mode);
  symlinkSync('..2026_03_01', join(mount, '..data'));
  symlinkSync(`..data/${basename(path)}`, path);
  chmodSync(mount, 0o1777);
}

type Layout = (path: string, content: string) => void | Promise<void>;

const accepted: Record<string, Layout> = {
  'a file of the same user with mode 0600': (path, content) => put(path, content),
  'a file of the same user with mode 0400': (path, content) => put(path, content, isRoot ? 0o400 : 0o600),
};
const acceptedLinks: Record<string, Layout> = {
  'a link to a file': (path, content) => void putLink(path, content),
  'a chain of relative and absolute links': (path, content) => {
    const target = putLink(`${path}.1`, content);
    symlinkSync(dirname(target), `${path}.folder`);
    symlinkSync(`${basename(path)}.folder/../${basename(dirname(target))}/${basename(path)}.1`, path);
  },
  'a link in a sticky folder to which all users may write': (path, content) => {
    chmodSync(dirname(path), 0o1777);
    putLink(path, content);
  },
  'a secret mounted by Kubernetes': (path, content) => putMounted(path, content, 0o600),
};
// Layouts of secret files that Docker, Kubernetes with an fsGroup, and systemd mount.
const acceptedOfRoot: Record<string, Layout> = {
  'a file of root with mode 0440': (path, content) => put(path, content, 0o440),
  'a file of root with mode 0640': (path, content) => put(path, content, 0o640),
  'a secret of root mounted by Kubernetes for a group': (path, content) => putMounted(path, content, 0o440),
};

type Refusal = readonly [layout: Layout, said: string];

const looseModes = [0o644, 0o604, 0o602, 0o620, 0o610, 0o601, 0o660, 0o444, 0o755, 0o777];
const refused: Record<string, Refusal> = {
  ...Object.fromEntries(
    looseModes.map((mode): [string, Refusal] => {
      const shown = `0${mode.toString(8)}`;
      return [
        `a file with mode ${shown}`,
        [
          (path, content) => put(path, content, mode),
          `has mode ${shown}, which lets others use it: run chmod`,
        ],
      ];
    }),
  ),
  'a folder': [(path) => mkdirSync(path, { mode: 0o700 }), 'is a folder: '],
  'a named pipe': [
    (path) => void execFileSync('mkfifo', ['-m', '600', path]),
    'is a named pipe: name a regular file',
  ],
  'a socket': [
    async (path) => {
      const server = createServer();
      await new Promise<void>((resolve) => server.listen(`${path}.s`, resolve));
      // The hard link survives when the server removes the original name.
      linkSync(`${path}.s`, path);
      await new Promise((resolve) => server.close(resolve));
      chmodSync(path, 0o600);
    },
    'is a socket: name a regular file',
  ],
};
const refusedLinks: Record<string, Refusal> = {
  'a link to a device': [(path) => symlinkSync('/dev/zero', path), 'is a device: name a regular file'],
  'a link to a named pipe': [
    (path) => {
      execFileSync('mkfifo', ['-m', '600', `${path}.pipe`]);
      symlinkSync(`${path}.pipe`, path);
    },
    'is a named pipe: name a regular file',
  ],
  'a link to a file with mode 0644': [
    (path, content) => chmodSync(putLink(path, content), 0o644),
    'has mode 0644, which lets others use it',
  ],
  'a link in a folder to which its group may write': [
    (path, content) => {
      putLink(path, content);
      chmodSync(dirname(path), 0o770);
    },
    'which others can replace, since its folder has mode 0770: run chmod go-w',
  ],
};
const refusedOfForeigners: Record<string, Refusal> = {
  "another user's file": [
    (path, content) => {
      put(path, content);
      chownSync(path, foreigner, 0);
    },
    `belongs to user ${foreigner}, who is neither root nor the user of this program (0): run this program as the owner`,
  ],
};
const refusedLinksOfForeigners: Record<string, Refusal> = {
  'a link of another user': [
    (path, content) => {
      putLink(path, content);
      lchownSync(path, foreigner, 0);
    },
    `of user ${foreigner}, who is neither root nor the user of this program (0): use the path of its target`,
  ],
  "a link of root's in another user's folder": [
    (path, content) => {
      putLink(path, content);
      chownSync(dirname(path), foreigner, 0);
    },
    `which user ${foreigner} can replace as the owner of its folder: use the path of its target`,
  ],
  'a path with a folder that is another user’s link': [
    (path, content) => {
      const target = freshFolder();
      put(join(target, basename(path)), content);
      rmSync(dirname(path), { recursive: true });
      symlinkSync(target, dirname(path));
      lchownSync(dirname(path), foreigner, 0);
    },
    `of user ${foreigner}, who is neither root nor the user of this program (0): use the path of its target`,
  ],
  "a link to another user's file": [
    (path, content) => chownSync(putLink(path, content), foreigner, 0),
    `belongs to user ${foreigner}`,
  ],
};

function layoutsFor({ takesNoLinks, isWrittenByProgram }: SecretFileReader) {
  const asRoot = <T>(layouts: Record<string, T>) => (isRoot ? layouts : {});
  const asLinks = <T>(layouts: Record<string, T>) => (takesNoLinks ? {} : layouts);
  const groupMayRead = isRoot && !isWrittenByProgram;
  return {
    accepted: { ...accepted, ...asLinks(acceptedLinks), ...(groupMayRead ? acceptedOfRoot : {}) },
    refused: {
      ...refused,
      ...asLinks(refusedLinks),
      ...asRoot(refusedOfForeigners),
      ...asRoot(asLinks(refusedLinksOfForeigners)),
    },
  };
}

describe.each(Object.entries(secretFileReaders))('%s', (_kind, reader) => {
  const { accepted, refused } = layoutsFor(reader);
  const freshPath = () => join(freshFolder(), 'deep', reader.name ?? 'secret');

  async function layOut(layout: Layout): Promise<string> {
    const path = freshPath();
    mkdirSync(dirname(path), { mode: 0o700 });
    await layout(path, reader.content);
    return path;
  }

  it.each(Object.entries(accepted))('can be read from %s', async (_layout, layout) => {
    await reader.read(await layOut(layout));
  });

  it.each(Object.entries(refused))('cannot be read from %s', async (_layout, [layout, said]) => {
    const path = await layOut(layout);
    const before = readdirSync(dirname(path));
    await expect(reader.read(path)).rejects.toThrow(said);
    expect(readdirSync(dirname(path))).toEqual(before);
  });

  it.each(reader.takesNoLinks ? Object.entries({ ...acceptedLinks, ...refusedLinks }) : [])(
    'cannot be read from %s, because the reader accepts no links',
    async (_layout, layout) => {
      const path = await layOut(Array.isArray(layout) ? layout[0] : (layout as Layout));
      await expect(reader.read(path)).rejects.toThrow('is a symbolic link');
    },
  );

  it.each(reader.isWrittenByProgram ? [0o440, 0o640] : [])(
    'cannot have mode %o, even if root owns the file, because the program writes it',
    async (mode) => {
      const path = await layOut((path, content) => put(path, content, mode));
      await expect(reader.read(path)).rejects.toThrow(`which lets others use it: run chmod 600 ${path}`);
    },
  );
});
