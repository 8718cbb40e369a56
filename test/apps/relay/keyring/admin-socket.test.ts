import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { ConfigurationError } from '@waxwing/service';
import { describe, expect, it } from 'vitest';
import { openAdminSocket } from '../../../../apps/relay/src/keyring/administration/admin-socket.js';
import { readKeyRingEnvironmentAlone } from '../../../../apps/relay/src/keyring/key-ring-configuration.js';
import { createMemoryLog } from '../../../support/memory-log.js';
import { freshFolder, ringOnDisk, sodium, startedAt } from './ring-material.js';

async function open(path: string) {
  const { keeper } = await ringOnDisk();
  const desk = {
    ...{ keeper, sodium, clock: () => startedAt },
    readKeyUses: async () => new Map(),
    takeOver: async () => undefined,
  };
  return openAdminSocket(path, { desk, log: createMemoryLog().log });
}

/** As a relay leaves it that was killed: there, and nobody listens. */
async function leaveDeadSocket(path: string): Promise<void> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(`${path}.dead`, resolve));
  renameSync(`${path}.dead`, path);
  await new Promise((resolve) => server.close(resolve));
}

describe('the path of the admin socket', () => {
  it('never costs the file that is there, such as the ring itself', async () => {
    const path = join(freshFolder(), 'ring.age');
    writeFileSync(path, 'precious');
    await expect(open(path)).rejects.toThrow(ConfigurationError);
    await expect(open(path)).rejects.toThrow('is no socket: name another path in RELAY_KEY_ADMIN_SOCKET');
    expect(readFileSync(path, 'utf8')).toBe('precious');
  });

  it('is served by one of several relays that start on it at once, also when a dead one left its socket there', async () => {
    const path = join(freshFolder(), 'relay.sock');
    for (let round = 0; round < 5; round++) {
      await leaveDeadSocket(path);
      const opened = await Promise.all(Array.from({ length: 6 }, () => open(path)));
      const serving = opened.filter((each) => each !== undefined);
      expect(serving).toHaveLength(1);
      expect(existsSync(path)).toBe(true);
      await Promise.all(serving.map((each) => each.close()));
    }
  });

  it('is refused with what to set when it is longer than a socket’s may be', async () => {
    const folder = freshFolder();
    const fitting = join(folder, 's'.repeat(103 - Buffer.byteLength(join(folder, '/'))));
    await (await open(fitting))?.close();
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
  ])('and those of ring, identity and audit log must differ: %o', (overlap) => {
    const environment = { RELAY_KEY_RING: 'ring.age', RELAY_KEY_RING_IDENTITY_FILE: 'id' };
    expect(() => readKeyRingEnvironmentAlone(environment)).not.toThrow();
    expect(() => readKeyRingEnvironmentAlone({ ...environment, ...overlap })).toThrow('name one file twice');
  });
});
