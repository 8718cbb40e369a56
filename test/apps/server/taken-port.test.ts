import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer as createTcpServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readServerEnvironment, startServer } from '@waxwing/server';
import { expect, it } from 'vitest';
import { createMemoryLog } from '../../support/memory-log.js';

it('a start fails when the port is taken, and closes the database', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'waxwing-server-'));
  const taken = createTcpServer().listen(0, '127.0.0.1');
  await once(taken, 'listening');
  const { port } = taken.address() as { port: number };
  const start = (serverPort: number) =>
    startServer(
      readServerEnvironment({
        SERVER_PORT: String(serverPort),
        SERVER_DATABASE: `sqlite:${join(folder, 'server.sqlite')}`,
        SERVER_UPLOADS: `disk:${join(folder, 'uploads')}`,
      }),
      { log: createMemoryLog().log },
    );
  await expect(start(port)).rejects.toMatchObject({ code: 'EADDRINUSE' });
  await (await start(0)).close();
  taken.close();
  await once(taken, 'close');
  rmSync(folder, { recursive: true });
});
