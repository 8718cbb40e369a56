import { useEffect, useId, useRef } from 'preact/hooks';
import { count } from '../elements/count.js';
import { ChartTable } from './chart-table.js';
import { type ChartSeries, type DrawnChart, drawChart } from './draw-chart.js';

interface MinuteChartProps {
  readonly title: string;
  readonly at: readonly number[];
  readonly series: readonly ChartSeries[];
}

/** Line chart of counts per minute, with the sums in a legend and the same counts as a table. */
export function MinuteChart({ title, at, series }: MinuteChartProps) {
  const titleId = useId();
  const place = useRef<HTMLDivElement>(null);
  const chart = useRef<DrawnChart | undefined>(undefined);
  useEffect(() => {
    if (place.current === null) return;
    const drawn = drawChart(place.current, at, series);
    chart.current = drawn;
    return () => drawn.destroy();
  }, [series.map(({ name }) => name).join()]);
  useEffect(() => chart.current?.update(at, series), [at, series]);

  const sums = series.map(({ name, tone, counts }) => ({
    name,
    tone,
    sum: counts.reduce((sum, each) => sum + each, 0),
  }));
  const inWords = sums.map(({ name, sum }) => `${count(sum)} ${name.toLowerCase()}`).join(', ');
  return (
    <figure class="panel chart" aria-labelledby={titleId}>
      <figcaption>
        <h3 id={titleId}>{title}</h3>
        <ul class="legend">
          {sums.map(({ name, tone, sum }) => (
            <li key={name}>
              <Line tone={tone} />
              {name} <b>{count(sum)}</b>
            </li>
          ))}
        </ul>
      </figcaption>
      <div
        ref={place}
        class="drawing"
        role="img"
        aria-label={`In the last ${at.length} minutes: ${inWords}.`}
      />
      <ChartTable title={title} at={at} series={series} />
    </figure>
  );
}

/** A sample line for the legend, drawn as in the chart. */
function Line({ tone }: { readonly tone: ChartSeries['tone'] }) {
  return (
    <svg class={`line ${tone}`} width="20" height="4" aria-hidden="true">
      <line x1="0" y1="2" x2="20" y2="2" />
    </svg>
  );
}
