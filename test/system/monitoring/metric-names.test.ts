import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readRelayEnvironment, startRelay } from '@waxwing/relay';
import { readServerEnvironment, startServer } from '@waxwing/server';
import type { ListeningService } from '@waxwing/service/http';
import { Metrics } from '@waxwing/service/metrics';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { commandClock, runRelayCommand } from '../../apps/relay/command-line-under-test.js';
import { createMemoryLog } from '../../support/memory-log.js';

const root = join(import.meta.dirname, '../../..');
const read = (path: string) => readFileSync(join(root, path), 'utf8');
const board = JSON.parse(read('deploy/grafana/waxwing.json')) as Board;
const alerts = read('deploy/prometheus/alerts.yml');
const table = read('docs/operations.md');

interface Board {
  readonly panels: Panel[];
}

interface Panel {
  readonly id: number;
  readonly title: string;
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  readonly targets?: { readonly expr: string }[];
}

/** Labels that Prometheus adds, and a histogram's `le` label. */
const foreignLabels = ['job', 'instance', 'le'];
/** Suffixes of the names of a histogram's series. */
const histogramSuffix = /_(?:bucket|count|sum)$/;

let folder: string;
let outputs: string[];
/** Label names of each metric that the programs create, by metric name. */
const labels = new Map<string, readonly string[]>();

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'waxwing-metrics-'));
  for (const method of ['gauge', 'counter', 'secondsHistogram'] as const) {
    const create = Metrics.prototype[method] as (...given: unknown[]) => unknown;
    vi.spyOn(Metrics.prototype, method).mockImplementation(function (this: Metrics, ...given: unknown[]) {
      const [name, , names = []] = given as [string, string, string[]?];
      labels.set(name, names);
      return create.apply(this, given) as never;
    });
  }
  const environment = {
    RELAY_PORT: '0',
    RELAY_METRICS_PORT: '0',
    RELAY_DATABASE: `sqlite:${join(folder, 'relay.sqlite')}`,
    RELAY_KEY_RING: join(folder, 'key-ring.age'),
    RELAY_KEY_RING_IDENTITY_FILE: join(folder, 'identity.txt'),
  };
  expect(await runRelayCommand(['keys', 'init'], { environment })).toMatchObject({ status: 0 });
  const { log } = createMemoryLog();
  const clock = () => commandClock();
  const services: ListeningService[] = [
    await startRelay(readRelayEnvironment(environment), { log, clock }),
    await startServer(
      readServerEnvironment({
        SERVER_PORT: '0',
        SERVER_METRICS_PORT: '0',
        SERVER_DATABASE: `sqlite:${join(folder, 'server.sqlite')}`,
        SERVER_REALM_URL: 'https://chat.example.com',
        SERVER_REALM_NAME: 'Example',
        SERVER_UPLOADS: `disk:${join(folder, 'uploads')}`,
      }),
      { log, clock },
    ),
  ];
  outputs = await Promise.all(services.map(async ({ metricsUrl }) => (await fetch(metricsUrl ?? '')).text()));
  for (const service of services) await service.close();
});

afterAll(() => {
  vi.restoreAllMocks();
  rmSync(folder, { recursive: true, force: true });
});

/** The metrics in an expression, with the labels that the expression filters by. */
function metricsOf(expression: string): { name: string; filters: string[] }[] {
  const used = expression.matchAll(/\b((?:waxwing|process|nodejs)_[a-z0-9_]+)(?:\{([^}]*)\})?/g);
  return [...used].map(([, name = '', filter = '']) => ({
    name,
    filters: [...filter.matchAll(/(\w+)\s*(?:=~|!~|!=|=)/g)].map(([, label = '']) => label),
  }));
}

function groupings(expression: string): string[] {
  return [...expression.matchAll(/\b(?:by|on)\s*\(([^)]*)\)/g)].flatMap(([, names = '']) =>
    names.split(',').map((name) => name.trim()),
  );
}

/** Fails unless the programs expose every metric of the expression, with the labels that the expression uses. */
function expectExisting(expression: string): void {
  const metrics = metricsOf(expression);
  const known = new Set(foreignLabels);
  for (const { name, filters } of metrics) {
    const base = labels.has(name) ? name : name.replace(histogramSuffix, '');
    expect(
      outputs.some((output) => output.includes(`# TYPE ${base} `)),
      base,
    ).toBe(true);
    const own = [...(labels.get(base) ?? []), ...foreignLabels];
    for (const label of own) known.add(label);
    expect(own, name).toEqual(expect.arrayContaining(filters));
  }
  expect([...known], expression).toEqual(expect.arrayContaining(groupings(expression)));
}

describe('the Grafana dashboard', () => {
  const targets = board.panels.flatMap(({ title, targets: all = [] }) =>
    all.map(({ expr }) => [title, expr] as const),
  );

  it('shows each metric of the programs', () => {
    const shown = new Set(targets.flatMap(([, expr]) => metricsOf(expr)).map(({ name }) => name));
    const isShown = (name: string) =>
      ['', '_bucket', '_count'].some((suffix) => shown.has(`${name}${suffix}`));
    expect([...labels.keys()].filter((name) => !isShown(name))).toEqual([]);
  });

  it('has panels that do not overlap and have unique ids', () => {
    const cells = board.panels.flatMap(({ gridPos: { x, y, w, h } }) =>
      Array.from({ length: w * h }, (_, index) => `${x + (index % w)},${y + Math.floor(index / w)}`),
    );
    expect(new Set(cells).size).toBe(cells.length);
    expect(new Set(board.panels.map(({ id }) => id)).size).toBe(board.panels.length);
  });

  it.each(targets)('%s uses only existing metrics and labels: %s', (_title, expression) => {
    expectExisting(expression);
  });
});

describe('the alert rules', () => {
  const rules = alerts.split(/^ {6}- alert: /m).slice(1);
  const named = rules.map((rule) => [rule.split('\n', 1)[0] ?? '', rule] as const);

  it.each(named)('%s uses only existing metrics and labels', (_name, rule) => {
    const [, expression = ''] = /expr: ((?:.|\n)*?)\n {8}(?:for|labels|annotations):/.exec(rule) ?? [];
    expect(expression).not.toBe('');
    expectExisting(expression);
  });

  it.each(named)('%s states the problem and the remedy', (_name, rule) => {
    expect(rule).toMatch(/severity: (?:critical|warning)/);
    expect(rule).toMatch(/\n {10}summary: "[^"]+"\n {10}remedy: "[^"]+\."\n/);
  });
});

it('docs/operations.md lists exactly the metrics of the programs', () => {
  const described = [...table.matchAll(/^\| `(waxwing_\w+)` \|/gm)].map(([, name]) => name);
  expect(described.sort()).toEqual([...labels.keys()].sort());
});
