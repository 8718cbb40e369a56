import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

const doorOfLifecycle = new URL('../../../../packages/service/src/lifecycle/index.ts', import.meta.url).href;

/**
 * Program that allocates chunks which live until enough newer chunks exist. Prints the maximum and minimum memory in
 * the steady state.
 */
const replaceWithoutEnd = `
  const pieces = new Array(200_000);
  let [most, least] = [0, Number.POSITIVE_INFINITY];
  for (let count = 0; count < pieces.length * 20; count += 1) {
    pieces[count % pieces.length] = { count, text: count + ' of many', more: [count, count] };
    if (count < pieces.length * 8 || count % 5000 !== 0) continue;
    const { heapUsed } = process.memoryUsage();
    [most, least] = [Math.max(most, heapUsed), Math.min(least, heapUsed)];
  }
  console.log(most / least);
  process.exit();`;

/** Returns the ratio of maximum to minimum memory in the steady state, for a heap limit. */
async function swing(heapMebibytes: number): Promise<number> {
  const service = `import { runProcess } from ${JSON.stringify(doorOfLifecycle)};`;
  const run = `${service} await runProcess({ name: 'test', log: { info() {} }, start: async () => ({}) });`;
  const flags = [
    // Makes V8 collect at its own threshold, independent of the machine's speed.
    ...['--no-incremental-marking', '--single-threaded-gc', '--max-semi-space-size=1'],
    `--max-old-space-size=${heapMebibytes}`,
  ];
  const source = ['--conditions=@waxwing/source', '--import', 'tsx', '--input-type=module', '--eval'];
  const code = `${run}${replaceWithoutEnd}`;
  const { stdout } = await promisify(execFile)(process.execPath, [...flags, ...source, code]);
  expect(Number(stdout)).toBeGreaterThan(1);
  return Number(stdout);
}

it('garbage takes at most 1.5 times the memory in use', async () => {
  expect(await swing(4096)).toBeLessThan(3);
});

it('a process with little memory has less garbage', async () => {
  expect(await swing(1024)).toBeLessThan(2.2);
});
