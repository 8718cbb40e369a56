import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { httpLimits } from './http-limits.js';
import { operatorLimits, readinessLimits } from './operator-limits.js';
import { relayInnerLimits, relayMemoryLimits } from './relay-inner-limits.js';
import { relayLimits, relaySizeLimits } from './relay-limits.js';
import { serverChatLimits } from './server-chat-limits.js';
import { serverInnerLimits } from './server-inner-limits.js';
import { serverLimits, serverSizeLimits } from './server-limits.js';
import { serverLineLimits, serverTransactionLimits } from './server-line-limits.js';
import { signInLimits } from './sign-in-limits.js';

const root = join(import.meta.dirname, '../../..');
const page = readFileSync(join(root, 'docs/limits.md'), 'utf8');
const operations = readFileSync(join(root, 'docs/operations.md'), 'utf8');

interface Row {
  readonly id: string;
  readonly value: string;
  readonly beyond: string;
  readonly shownBy: string;
}

const rows: readonly Row[] = page
  .split('\n')
  .filter((line) => line.startsWith('| `'))
  .map((line) => {
    const cells = line.split('|').map((cell) => cell.trim());
    const [, id = '', , value = '', beyond = '', shownBy = '', ...rest] = cells;
    expect(rest, `${id} has five cells`).toEqual(['']);
    return { id: id.replaceAll('`', ''), value, beyond, shownBy };
  });

const limits = [
  ...[...httpLimits, ...relayLimits, ...relaySizeLimits, ...relayInnerLimits],
  ...[...relayMemoryLimits, ...operatorLimits, ...readinessLimits],
  ...[...serverLineLimits, ...serverTransactionLimits],
  ...[...serverLimits, ...serverSizeLimits, ...serverInnerLimits, ...serverChatLimits, ...signInLimits],
];

describe('docs/limits.md', () => {
  it('contains each limit once', () => {
    expect(rows.map(({ id }) => id)).toEqual([...new Set(rows.map(({ id }) => id))]);
  });

  it('marks exactly the provoked limits as provoked', () => {
    const provoked = rows.filter(({ shownBy }) => shownBy === 'provoked').map(({ id }) => id);
    expect(provoked.toSorted()).toEqual(limits.map(({ id }) => id).toSorted());
  });

  it.each(limits)('states the response beyond $id and the metric of the limit', (limit) => {
    const [status, code, retryAfter] = limit.answer;
    const beyond = beyondOf(limit.id);
    const isSaid = status >= 400 && limit.id !== 'unread-body-seconds';
    if (isSaid) expect(beyond).toContain(String(status));
    if (code !== undefined) expect(beyond).toContain(`\`${code}\``);
    if (retryAfter !== undefined) expect(beyond).toContain('`Retry-After');
    expect(beyond).toContain(inShort(limit.metric));
  });

  it.each(rows.filter(({ value }) => value.includes('_')))(
    'states the same setting and default for $id as docs/operations.md',
    ({ value }) => {
      const [, number = '', unit = '', setting = ''] =
        /^([\d,]+) ?(MiB|s|a minute|at once.*|for none)?, `(\w+)`$/.exec(value) ?? [];
      const standard = Number(number.replaceAll(',', '')) * (unit === 'MiB' ? 1024 * 1024 : 1);
      for (const name of setting.startsWith('P_') ? ['RELAY', 'SERVER'] : ['']) {
        expect(operations).toContain(`| \`${setting.replace(/^P/, name)}\` | \`${standard}\` |`);
      }
    },
  );

  it.each(rows.filter(({ shownBy }) => shownBy !== 'provoked'))(
    'names an existing test for $id',
    ({ shownBy }) => {
      const [, file = '', title = ''] = /^(test\/\S+\.test\.ts): (.+)$/.exec(shownBy) ?? [];
      expect(readFileSync(join(root, file), 'utf8')).toMatch(
        new RegExp(`['"\`]${title.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')}['"\`]`),
      );
    },
  );
});

/** The page's description of the effect beyond a limit. "the same" refers to the previous row. */
function beyondOf(id: string): string {
  const index = rows.findIndex((row) => row.id === id);
  const row = rows.slice(0, index + 1).findLast(({ beyond }) => beyond !== 'the same');
  return row?.beyond ?? '';
}

/** A metric in the short form used on the page. */
function inShort(metric = ''): string {
  const [, reason] = /^waxwing_http_refusals_total\{reason="(.+)"\}$/.exec(metric) ?? [];
  if (reason !== undefined) return `refusals \`${reason}\``;
  const [, status] = /^waxwing_http_request_seconds_count\{.*,status="(\d+)"\}$/.exec(metric) ?? [];
  if (status !== undefined) return `answers ${status}`;
  const [, unsent] = /^waxwing_deliveries_total\{.*,reason="(.+)"\}$/.exec(metric) ?? [];
  if (unsent !== undefined) return `deliveries \`${unsent}\``;
  return metric === '' ? 'not counted' : metric.trim();
}
