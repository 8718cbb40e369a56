import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ruleFields } from '#vendors/faults/rule-fields.js';
import { appleReasons } from '#vendors/reasons/apple-reasons.js';
import { googleErrors } from '#vendors/reasons/google-errors.js';
import { oauthErrors } from '#vendors/reasons/oauth-errors.js';
import { pushServiceReasons } from '#vendors/reasons/push-service-reasons.js';
import { startTestVendors, type TestVendors } from './vendor-clients.js';

const page = await readFile(new URL('../../../docs/vendors.md', import.meta.url), 'utf8');
const commands = [...page.matchAll(/^curl .*$/gm)].map(([command]) => command);

describe('docs/vendors.md', () => {
  let test: TestVendors;

  beforeAll(async () => {
    test = await startTestVendors();
  });
  afterAll(() => test.close());

  it('documents exactly the fields of a fault rule and their vendors', () => {
    const rows = [...page.matchAll(/^\| `(\w+)` \| ([\w, ]*) \|/gm)].map(([, name, vendors]) => [
      name,
      vendors,
    ]);
    const fields = Object.entries(ruleFields).map(([name, { vendors }]) => [
      name,
      vendors.length === 4 ? 'all' : vendors.join(', '),
    ]);
    expect(Object.fromEntries(rows)).toEqual(Object.fromEntries(fields));
  });

  it('names the default reason of every status', () => {
    const [, text = ''] = /^The usual reasons: ([\s\S]*?)\.\n\n/m.exec(page) ?? [];
    const [apple, google, oauth, webPush] = text
      .split(';')
      .map((part) =>
        Object.fromEntries(
          [...part.matchAll(/(\d{3}) `(\w+)`/g)].map(([, status, reason]) => [status, reason]),
        ),
      );
    const usual = (statuses: [string, number][]) =>
      Object.fromEntries(statuses.reverse().map(([reason, status]) => [String(status), reason]));
    const statusOf = (table: Record<string, { httpStatus: number }>) =>
      Object.entries(table).map(([name, { httpStatus }]): [string, number] => [name, httpStatus]);
    expect(apple).toEqual(usual(Object.entries(appleReasons)));
    expect(google).toEqual(usual(statusOf(googleErrors)));
    expect(oauth).toEqual(usual(statusOf(oauthErrors)));
    expect(webPush).toEqual(usual(Object.entries(pushServiceReasons)));
  });

  it('has examples', () => {
    expect(commands.length).toBeGreaterThanOrEqual(9);
  });

  it.each(commands)('has an example that works: %s', async (command) => {
    const [, method = 'GET', url = '', body] =
      /^curl (?:-X (\w+) )?'([^']+)'(?: -d '([^']+)')?$/.exec(command) ?? [];
    const own = url.replace('http://127.0.0.1:8330', test.vendors.urls.http);
    expect(own).not.toBe(url);
    const response = await fetch(own, { method, ...(body !== undefined && { body }) });
    const answer: unknown = await response.json();
    expect(response.status).toBe(200);
    if (body !== undefined) expect(answer).toEqual(JSON.parse(body));
  });
});
