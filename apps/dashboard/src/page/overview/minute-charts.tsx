import type { DeliveryOutcome, Overview, Vendor } from '../api/answers.js';
import { vendorNames } from '../elements/names.js';
import type { ChartSeries } from './draw-chart.js';
import { MinuteChart } from './minute-chart.js';

const outcomeTones: Readonly<Record<DeliveryOutcome, ChartSeries['tone']>> = {
  delivered: 'good',
  retried: 'caution',
  rejected: 'bad',
};
const outcomeNames: Readonly<Record<DeliveryOutcome, string>> = {
  delivered: 'Delivered',
  retried: 'Retried',
  rejected: 'Rejected',
};

function outcomesOf({ minutes }: Overview, vendor: Vendor): readonly ChartSeries[] {
  return (Object.keys(outcomeTones) as DeliveryOutcome[]).map((outcome) => ({
    name: outcomeNames[outcome],
    tone: outcomeTones[outcome],
    counts:
      minutes.outcomes.find((each) => each.vendor === vendor && each.outcome === outcome)?.counts ??
      minutes.at.map(() => 0),
  }));
}

/** Charts of registrations per minute, and of delivery outcomes per minute and vendor. */
export function MinuteCharts({ overview }: { readonly overview: Overview }) {
  const { at, registrations } = overview.minutes;
  return (
    <section aria-labelledby="minutes-title">
      <h2 id="minutes-title">Each minute of the last hour</h2>
      <div class="charts">
        <MinuteChart
          title="Registrations"
          at={at}
          series={[{ name: 'Registered', tone: 'accent', counts: registrations }]}
        />
        {(Object.keys(vendorNames) as Vendor[]).map((vendor) => (
          <MinuteChart
            key={vendor}
            title={`Deliveries to ${vendorNames[vendor]}`}
            at={at}
            series={outcomesOf(overview, vendor)}
          />
        ))}
      </div>
    </section>
  );
}
