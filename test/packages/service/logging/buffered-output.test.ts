import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, it } from 'vitest';

/** Runs `code` with a logger `log` in a child process. Returns its standard output and how it ended. */
async function runWithLog(code: string, onOutput: (child: ChildProcess) => void = () => undefined) {
  const source = `
    import { createLogger } from ${JSON.stringify(new URL('../../../../packages/service/src/logging/index.ts', import.meta.url).href)};
    const log = createLogger('test', 'info');
    const { writeSync } = await import('node:fs');
    ${code}`;
  const child = spawn(
    process.execPath,
    ['--conditions=@waxwing/source', '--import', 'tsx', '--input-type=module', '--eval', source],
    {
      stdio: ['ignore', 'pipe', 'ignore'],
    },
  );
  let written = '';
  child.stdout.on('data', (data) => {
    written += String(data);
    onOutput(child);
  });
  const [status] = await once(child, 'close');
  const said = written
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => (line.startsWith('{') ? (JSON.parse(line).msg as string) : line));
  return { said, status };
}

const mark = "writeSync(1, 'mark\\n');";

it('the log is written at exit, and not line by line', async () => {
  expect(await runWithLog(`log.info('one'); log.info('two'); ${mark} process.exit(3);`)).toEqual({
    said: ['mark', 'one', 'two'],
    status: 3,
  });
});

it('all lines up to an error are written immediately', async () => {
  const { said } = await runWithLog(`log.info('one'); log.error('two'); ${mark} log.info('three');`);
  expect(said).toEqual(['one', 'two', 'mark', 'three']);
});

it('the log is written soon while the process runs', async () => {
  // The process never exits on its own. It is killed after its line has arrived, so no exit has flushed the line.
  const { said } = await runWithLog("log.info('one'); setInterval(() => undefined, 1000);", (child) =>
    child.kill('SIGKILL'),
  );
  expect(said).toEqual(['one']);
});

it('the log is written before an uncaught error', async () => {
  expect(await runWithLog("log.info('one'); throw new Error('crash');")).toEqual({
    said: ['one'],
    status: 1,
  });
});
