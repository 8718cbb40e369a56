import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const page = join(import.meta.dirname, '../../docs/scaling.md');

/**
 * The statements on the scaling page that partition `relay_devices`. Includes the statements that the page abbreviates.
 */
export function partitionScript(): string {
  const script = /```sql\n(alter table relay_devices [\s\S]*?)```/.exec(readFileSync(page, 'utf8'))?.[1];
  const first = script?.split('\n').find((line) => line.startsWith('create table relay_devices_0 '));
  const last = script && /-- … and 1 to (\d+)\n/.exec(script)?.[1];
  if (script === undefined || first === undefined || last === undefined) {
    throw new Error(`${page} does not contain the statements for partitioning in the expected place.`);
  }
  const others = Array.from({ length: Number(last) }, (_, index) =>
    first.replace('_0', `_${index + 1}`).replace('remainder 0', `remainder ${index + 1}`),
  );
  return script.replace(/-- … and .*/, others.join('\n'));
}
