import { createServerPush, openPushDatabase } from '@waxwing/server-push';
import type { Terminal } from '@waxwing/service/command-line';
import { Secret } from '@waxwing/service/config';
import { systemClock } from '@waxwing/service/lifecycle';
import { expect, it } from 'vitest';
import { runPushCommand } from '#server-push/command-line.js';
import { eachBackend } from '../../support/test-databases.js';

async function run(command: string, environment: Record<string, string>) {
  const [printed, said]: [string[], string[]] = [[], []];
  const terminal: Terminal = {
    environment,
    clock: systemClock,
    print: (text) => void printed.push(text),
    say: (text) => void said.push(text),
    ask: async () => undefined,
    readSecret: async () => new Secret(''),
  };
  const code = await runPushCommand(command.split(' '), terminal);
  return { code, printed: printed.join('\n'), said: said.join('\n') };
}

it('the program of a mounted push says which setting it lacks', async () => {
  expect(await run('db status', {})).toEqual({
    code: 1,
    printed: '',
    said: 'waxwing-server-push: Set SERVER_PUSH_DATABASE to the database that the server gives to openPushDatabase: sqlite:<file> or postgres://….',
  });
  expect((await run('serve', {})).code).toBe(2);
});

eachBackend((backend) => {
  it('the program of a mounted push shows and drops a job while the server runs', async () => {
    const url = await backend.freshUrl();
    const database = await openPushDatabase({ url });
    const push = await createServerPush({
      database,
      authenticate: async () => undefined,
      realm: { uuid: '9aa61d0b-8ce5-488d-8e9e-fedc346e6836', url: 'https://game.example.com', name: 'Game' },
      relay: { kind: 'not-configured' },
    });
    const environment = { SERVER_PUSH_DATABASE: url };
    try {
      const status = JSON.parse((await run('db status --json', environment)).printed);
      expect(status).toMatchObject({ pending: [], newer: [] });
      await push.notify([7], { content: { type: 'payload', payload: { secret: 'the word' } } });
      const { jobs } = JSON.parse((await run('queue list --json', environment)).printed);
      expect(jobs).toMatchObject([{ kind: 'notifications/deliver-notification' }]);
      const shown = (await run(`queue show ${jobs[0].id}`, environment)).printed;
      expect(shown).toContain('7');
      expect(shown).not.toContain('the word');
      expect((await run(`queue drop ${jobs[0].id} --yes`, environment)).code).toBe(0);
      expect(await database.jobs.list({})).toEqual([]);
    } finally {
      await push.close();
      await database.close();
    }
  });
});
