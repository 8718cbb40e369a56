import uPlot from 'uplot';

/** One line of a chart. `tone` names the color, which is a custom property in the style sheet. */
export interface ChartSeries {
  readonly name: string;
  readonly tone: 'accent' | 'good' | 'caution' | 'bad';
  readonly counts: readonly number[];
}

/** Dash patterns, for readers who cannot distinguish the colors. */
const dashes: Readonly<Record<ChartSeries['tone'], number[]>> = {
  accent: [],
  good: [],
  caution: [6, 3],
  bad: [2, 3],
};
const heightPixels = 160;

export interface DrawnChart {
  update(at: readonly number[], series: readonly ChartSeries[]): void;
  destroy(): void;
}

/** Draws counts per minute into an element, using its width and the current color scheme. */
export function drawChart(
  element: HTMLElement,
  at: readonly number[],
  series: readonly ChartSeries[],
): DrawnChart {
  const chart = new uPlot(optionsFor(element, series), dataOf(at, series), element);
  const resized = new ResizeObserver(() =>
    chart.setSize({ width: element.clientWidth, height: heightPixels }),
  );
  resized.observe(element);
  const scheme = matchMedia('(prefers-color-scheme: dark)');
  const redraw = (): void => chart.redraw(false, true);
  scheme.addEventListener('change', redraw);
  return {
    update: (newAt, newSeries) => chart.setData(dataOf(newAt, newSeries)),
    destroy() {
      scheme.removeEventListener('change', redraw);
      resized.disconnect();
      chart.destroy();
    },
  };
}

/** Converts times to seconds, as uPlot expects. */
function dataOf(at: readonly number[], series: readonly ChartSeries[]): uPlot.AlignedData {
  return [at.map((each) => each / 1000), ...series.map(({ counts }) => [...counts])];
}

function optionsFor(element: HTMLElement, series: readonly ChartSeries[]): uPlot.Options {
  // Reads the color each time it draws, because the color scheme can change.
  const color = (name: string) => (): string =>
    getComputedStyle(element).getPropertyValue(`--${name}`).trim();
  const axis: uPlot.Axis = {
    stroke: color('soft'),
    font: '12px system-ui, sans-serif',
    grid: { stroke: color('line'), width: 1 },
    ticks: { show: false },
  };
  return {
    width: element.clientWidth,
    height: heightPixels,
    legend: { show: false },
    cursor: { show: false },
    padding: [8, 20, 0, 0],
    scales: { y: { range: (_, __, highest) => [0, Math.max(highest ?? 0, 4)] } },
    axes: [
      Object.assign({ space: 60, size: 26, values: '{HH}:{mm}' }, axis),
      Object.assign({ size: 44, values: wholeNumbers }, axis),
    ],
    series: [
      {},
      ...series.map(({ name, tone }) => ({
        label: name,
        stroke: color(tone),
        width: 2,
        dash: dashes[tone],
        points: { show: false },
      })),
    ],
  };
}

/** Hides fractional ticks, because counts are integers. */
function wholeNumbers(_: uPlot, splits: number[]): string[] {
  return splits.map((split) => (Number.isInteger(split) ? split.toLocaleString('en') : ''));
}
