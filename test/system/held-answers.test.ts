import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, expect, it } from 'vitest';
import { freePort } from '../support/free-ports.js';
import { answersHeld, takeWrongAnswers } from '../support/program-answers.js';
import { SpawnedProcess } from '../support/spawned-process.js';

const dir = mkdtempSync(join(tmpdir(), 'waxwing-held-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

it('detects a spawned program’s response that its operation does not declare', async () => {
  // Changes the declaration of one operation so that the program’s normal response violates it.
  const spoil = join(dir, 'spoil.mjs');
  const http = pathToFileURL(join(import.meta.dirname, '../../packages/service/dist/http/index.js')).href;
  writeFileSync(
    spoil,
    `import { subscribe } from 'node:diagnostics_channel';
     import { noAnswer } from '${http}';
     subscribe('waxwing:answered', (message) => {
       message.declared = { ...message.declared, answer: noAnswer.strict() };
     });`,
  );
  const port = await freePort();
  const server = new SpawnedProcess('waxwing-server', ['serve'], {
    env: {
      SERVER_PORT: String(port),
      SERVER_DATABASE: `sqlite:${join(dir, 'server.sqlite')}`,
      SERVER_REALM_URL: `http://127.0.0.1:${port}`,
      SERVER_REALM_NAME: 'Held',
      NODE_OPTIONS: `--import=${pathToFileURL(spoil).href} ${answersHeld.NODE_OPTIONS}`,
    },
  });
  try {
    await server.readyAt(`http://127.0.0.1:${port}/health/ready`);
    const response = await fetch(`http://127.0.0.1:${port}/api/v1/server_settings`);
    expect(response.status).toBe(200);
    await response.arrayBuffer();
  } finally {
    await server.end();
  }
  expect(takeWrongAnswers()).toEqual([
    expect.stringContaining('GET /api/v1/server_settings responded differently than it declares'),
  ]);
});
