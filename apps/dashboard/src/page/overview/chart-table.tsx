import { count } from '../elements/count.js';
import { ScrollTable } from '../elements/scroll-table.js';
import type { ChartSeries } from './draw-chart.js';

const clock = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' });

interface ChartTableProps {
  readonly title: string;
  readonly at: readonly number[];
  readonly series: readonly ChartSeries[];
}

/** Shows the counts of a chart as a table, newest first. */
export function ChartTable({ title, at, series }: ChartTableProps) {
  const newestFirst = at.map((instant, index) => ({ instant, index })).reverse();
  return (
    <details>
      <summary>Show as a table</summary>
      <ScrollTable label={`${title}, as a table`} className="minutes">
        <thead>
          <tr>
            <th scope="col">Minute</th>
            {series.map(({ name }) => (
              <th key={name} scope="col" class="number">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {newestFirst.map(({ instant, index }) => (
            <tr key={instant}>
              <th scope="row">{clock.format(instant)}</th>
              {series.map(({ name, counts }) => (
                <td key={name} class="number">
                  {count(counts[index] ?? 0)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </ScrollTable>
    </details>
  );
}
