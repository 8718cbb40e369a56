import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  readFileSync,
  renameSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createServer, Server } from 'node:net';
import { join } from 'node:path';
import { ConfigurationError } from '@waxwing/service/config';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { askAdminSocket } from '#relay/admin-socket/ask-admin-socket.js';
import { describeDistrust } from '#relay/admin-socket/trusted-socket.js';
import { replaceSigningKey } from '#relay/keyring/administration/signing-and-token-keys.js';
import { readKeyRingEnvironmentAlone } from '#relay/keyring/storage/key-ring-configuration.js';
import { freshFolder } from '../keyring/ring-material.js';
import { adminSocketAt } from './admin-socket-under-test.js';

const open = (path: string) => adminSocketAt(path);

/** Leaves a socket file without a listener, as a killed relay does. */
async function leaveDeadSocket(path: string): Promise<void> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(`${path}.dead`, resolve));
  renameSync(`${path}.dead`, path);
  await new Promise((resolve) => server.close(resolve));
}

describe('the path of the admin socket', () => {
  it('never replaces an existing file, such as the ring itself', async () => {
    const path = join(freshFolder(), 'ring.age');
    writeFileSync(path, 'precious');
    await expect(open(path)).rejects.toThrow(ConfigurationError);
    await expect(open(path)).rejects.toThrow('is not a socket: set another path in RELAY_KEY_ADMIN_SOCKET');
    expect(readFileSync(path, 'utf8')).toBe('precious');
  });

  it('is served by one of several concurrently starting relays, even with a leftover socket from a killed relay', async () => {
    const path = join(freshFolder(), 'relay.sock');
    for (let round = 0; round < 5; round++) {
      await leaveDeadSocket(path);
      const opened = await Promise.all(Array.from({ length: 6 }, () => open(path)));
      const serving = opened.filter(({ isServing }) => isServing);
      expect(serving).toHaveLength(1);
      expect(existsSync(path)).toBe(true);
      await Promise.all(serving.map((each) => each.close()));
    }
  });

  it('is rejected with the setting to change if it is too long for a Unix socket', async () => {
    const folder = freshFolder();
    const fitting = join(folder, 's'.repeat(103 - Buffer.byteLength(join(folder, '/'))));
    await (await open(fitting)).close();
    await expect(open(`${fitting}s`)).rejects.toThrow(
      'is too long: set RELAY_KEY_ADMIN_SOCKET to one of at most 103 bytes',
    );
    expect(existsSync(fitting)).toBe(false);
  });

  it.each([
    { RELAY_KEY_ADMIN_SOCKET: 'ring.age' },
    { RELAY_KEY_AUDIT_LOG: './ring.age' },
    { RELAY_KEY_RING_IDENTITY_FILE: 'ring.age' },
    { RELAY_KEY_AUDIT_LOG: 'id' },
  ])('must differ from the paths of the ring, the identity and the audit log: %o', (overlap) => {
    const environment = { RELAY_KEY_RING: 'ring.age', RELAY_KEY_RING_IDENTITY_FILE: 'id' };
    expect(() => readKeyRingEnvironmentAlone(environment)).not.toThrow();
    expect(() => readKeyRingEnvironmentAlone({ ...environment, ...overlap })).toThrow(
      'name the same file twice',
    );
  });
});

describe('the mode of the admin socket', () => {
  afterEach(() => vi.restoreAllMocks());

  it('is 0600 from the start, and the umask of the process stays unchanged', async () => {
    const path = join(freshFolder(), 'relay.sock');
    const modes: number[] = [];
    const { listen } = Server.prototype;
    vi.spyOn(Server.prototype, 'listen').mockImplementation(function (this: Server, ...given) {
      listen.apply(this, given as never);
      modes.push(lstatSync(path).mode & 0o777);
      return this;
    });
    const before = process.umask(0);
    try {
      const opened = await open(path);
      modes.push(lstatSync(path).mode & 0o777);
      await opened.close();
      expect(process.umask()).toBe(0);
    } finally {
      process.umask(before);
    }
    expect(modes).toEqual([0o600, 0o600]);
  });
});

/** A stand-in for the relay that records the data it receives. */
async function listener(path: string) {
  const heard: Buffer[] = [];
  const server = createServer((socket) => {
    socket.on('data', (data: Buffer) => heard.push(data));
    socket.on('error', () => undefined);
  });
  await new Promise<void>((resolve) => server.listen(path, resolve));
  chmodSync(path, 0o600);
  return { heard, close: () => new Promise((resolve) => server.close(resolve)) };
}

describe('a command', () => {
  const question = {
    declared: replaceSigningKey,
    form: { recovery_private_key: 'secret' },
    operatorName: 'test',
  };
  const refused = [
    [
      'the socket has mode 0666',
      (path: string) => chmodSync(path, 0o666),
      /sock has mode 0666, .*: run chmod 600/,
    ],
    [
      'the socket has mode 0620',
      (path: string) => chmodSync(path, 0o620),
      /sock has mode 0620, .*: run chmod 600/,
    ],
    [
      'all users can write to its folder',
      (path: string) => chmodSync(join(path, '..'), 0o777),
      /run chmod go-w/,
    ],
    [
      'a group can write to its folder',
      (path: string) => chmodSync(join(path, '..'), 0o770),
      /run chmod go-w/,
    ],
    // Only root can change a socket's owner.
    ...(process.geteuid?.() === 0
      ? ([
          [
            'the socket belongs to another user',
            (path: string) => chownSync(path, 65_534, 65_534),
            /belongs to user 65534, not to you or root/,
          ],
        ] as const)
      : []),
  ] as const;

  it.each(refused)('sends nothing when %s', async (_name, spoil, sentence) => {
    const path = join(freshFolder(), 'relay.sock');
    const { heard, close } = await listener(path);
    spoil(path);
    await expect(askAdminSocket(path, question)).rejects.toThrow(sentence);
    expect(heard).toEqual([]);
    await close();
  });

  it('sends nothing if the socket was replaced during the check', async () => {
    const path = join(freshFolder(), 'relay.sock');
    const first = await listener(path);
    const other = await listener(`${path}.other`);
    const calling = askAdminSocket(path, question);
    renameSync(`${path}.other`, path);
    await expect(calling).rejects.toThrow('was replaced a moment ago');
    expect([...first.heard, ...other.heard]).toEqual([]);
    await Promise.all([first.close(), other.close()]);
  });

  it('finds no relay if the socket or its folder is missing, or the socket is dead', async () => {
    const path = join(freshFolder(), 'relay.sock');
    expect(await askAdminSocket(path, question)).toBeUndefined();
    expect(await askAdminSocket(join(path, 'deeper'), question)).toBeUndefined();
    await leaveDeadSocket(path);
    chmodSync(path, 0o600);
    expect(await askAdminSocket(path, question)).toBeUndefined();
  });

  const me = 1000;
  const mine = { uid: me, mode: 0o140600, dev: 1, ino: 1, isSocket: () => true };
  const folder = { uid: me, mode: 0o40700 };
  it.each([
    [{ socket: mine, folder }, undefined],
    [{ socket: { ...mine, uid: 0 }, folder: { ...folder, uid: 0 } }, undefined],
    [{ socket: mine, folder: { uid: 0, mode: 0o41777 } }, undefined],
    [{ socket: mine, folder: { ...folder, mode: 0o40755 } }, undefined],
    [{ socket: { ...mine, uid: 1001 }, folder }, 'belongs to user 1001, not to you or root'],
    [
      { socket: mine, folder: { ...folder, uid: 1001 } },
      'belongs to user 1001, who could replace the socket',
    ],
    [{ socket: mine, folder: { uid: 1001, mode: 0o41777 } }, 'belongs to user 1001'],
    [{ socket: mine, folder: { uid: 0, mode: 0o40777 } }, 'has mode 0777'],
  ])(
    'trusts only sockets that this user or root owns and no other user can replace: %o',
    (facts, sentence) => {
      const said = describeDistrust('/run/relay.sock', facts, me);
      if (sentence === undefined) expect(said).toBeUndefined();
      else expect(said).toContain(sentence);
    },
  );
});

describe('a relay', () => {
  it('does not listen in a folder where other users could replace its socket', async () => {
    const folder = freshFolder();
    chmodSync(folder, 0o777);
    await expect(open(join(folder, 'relay.sock'))).rejects.toThrow(`run chmod go-w ${folder}`);
    await expect(open(join(folder, 'relay.sock'))).rejects.toThrow(ConfigurationError);
    chmodSync(folder, 0o755);
    await (await open(join(folder, 'relay.sock'))).close();
  });

  // Only root can change a socket's owner.
  it.runIf(process.geteuid?.() === 0)(
    'does not start if another user listens on its socket path, even in a sticky folder',
    async () => {
      const folder = freshFolder();
      chmodSync(folder, 0o1777);
      const path = join(folder, 'relay.sock');
      const { heard, close } = await listener(path);
      chownSync(path, 65_534, 65_534);
      await expect(open(path)).rejects.toThrow(ConfigurationError);
      await expect(open(path)).rejects.toThrow(/belongs to user 65534, not to you or root: .*find out who/);
      expect([lstatSync(path).uid, heard]).toEqual([65_534, []]);
      await close();
    },
  );

  it('does not start if its socket path has a listener that other users can access', async () => {
    const path = join(freshFolder(), 'relay.sock');
    const { close } = await listener(path);
    chmodSync(path, 0o666);
    await expect(open(path)).rejects.toThrow(ConfigurationError);
    await expect(open(path)).rejects.toThrow(
      `has mode 0666, which lets others use it: run chmod 600 ${path}`,
    );
    await close();
  });

  it('creates a missing folder for its socket with mode 0700', async () => {
    const path = join(freshFolder(), 'new', 'relay.sock');
    const opened = await open(path);
    expect(statSync(join(path, '..')).mode & 0o777).toBe(0o700);
    await opened.close();
  });
});
