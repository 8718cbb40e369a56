import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Constellation } from '../support/constellation.js';

/**
 * Prints each datagram that a Unix socket receives on a separate line. In Python, because Node does not support Unix
 * datagram sockets.
 */
const receiver = `
import socket, sys
notices = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
notices.bind(sys.argv[1])
print('bound', flush=True)
while True:
    print(notices.recv(4096).decode(), flush=True)
`;

describe.runIf(existsSync('/usr/bin/systemd-notify'))('a process started by systemd', () => {
  let world: Constellation;
  beforeAll(async () => {
    world = await Constellation.create();
  }, 300_000);
  afterAll(() => world?.close());

  it.each(['relay', 'server'] as const)(
    'notifies systemd when it listens and when it stops: %s',
    async (name) => {
      const socket = join(mkdtempSync(join(world.dir, 'notify-')), 'socket');
      const python = spawn('/usr/bin/python3', ['-c', receiver, socket], {
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      let received = '';
      python.stdout.on('data', (chunk: Buffer) => {
        received += chunk.toString('utf8');
      });
      try {
        await expect.poll(() => received, { timeout: 60_000 }).toContain('bound');
        const env = { NOTIFY_SOCKET: socket };
        const process = name === 'relay' ? world.spawnRelay(env) : world.spawnServer(env);
        await expect.poll(() => received, { timeout: 120_000 }).toContain('READY=1');
        // The log is flushed every 100 ms, so this line may follow READY=1.
        await expect.poll(() => process.output).toContain('"msg":"ready"');
        expect(await process.end()).toBe(0);
        await expect.poll(() => received, { timeout: 60_000 }).toMatch(/READY=1\n[\s\S]*STOPPING=1\n/);
        expect(process.output).not.toContain('systemd did not get');
      } finally {
        python.kill('SIGKILL');
      }
    },
    300_000,
  );
});
