import type { Overview } from '../api/answers.js';
import { count, counted } from '../elements/count.js';
import { type Figure, FigureList } from '../elements/figure-list.js';
import { duration } from '../elements/time.js';

function figuresOf({ queue, latency_ms: latency, registrations }: Overview): readonly Figure[] {
  const age = queue.oldest_due_age_ms;
  const oldest = queue.due > 0 && age !== null ? `oldest for ${duration(age)}` : 'none is late';
  return [
    { name: 'Due now', value: count(queue.due), notes: [oldest] },
    { name: 'Waiting for a retry', value: count(queue.waiting), notes: [`${count(queue.running)} running`] },
    { name: 'Dead letters', value: count(queue.dead), notes: [] },
    {
      name: 'Delivery latency, p50',
      value: latency === null ? '–' : `≤ ${duration(latency.p50)}`,
      notes:
        latency === null
          ? ['no delivery in the last hour']
          : [`p95 ≤ ${duration(latency.p95)}`, `p99 ≤ ${duration(latency.p99)}`],
    },
    {
      name: 'Registered devices',
      value: registrations.devices === null ? '–' : count(registrations.devices),
      notes: [
        `of ${counted(registrations.servers, 'server')}`,
        registrations.devices === null ? 'not counted yet' : 'counted every 15 minutes',
      ],
    },
  ];
}

/** Shows figures on the queue, the delivery latency and the relay's size. */
export function Figures({ overview }: { readonly overview: Overview }) {
  return <FigureList title="Queue and size" figures={figuresOf(overview)} />;
}
