import { count, counted } from '../../page/elements/count.js';
import { type Figure, FigureList } from '../../page/elements/figure-list.js';
import { duration } from '../../page/elements/time.js';
import type { JobCounts, Overview } from '../answers.js';

function figuresOf({ event_queues: queues, jobs, oldest_due_age_ms: age }: Overview): readonly Figure[] {
  const total = (state: Exclude<keyof JobCounts, 'kind'>) => jobs.reduce((sum, job) => sum + job[state], 0);
  const due = total('due');
  const oldest = due > 0 && age !== null ? `oldest for ${duration(age)}` : 'none is late';
  return [
    { name: 'Event queues', value: count(queues.open), notes: [`of ${counted(queues.users, 'user')}`] },
    { name: 'Jobs due now', value: count(due), notes: [oldest] },
    {
      name: 'Jobs waiting for a retry',
      value: count(total('waiting')),
      notes: [`${count(total('running'))} running`],
    },
    { name: 'Jobs given up', value: count(total('dead')), notes: [] },
  ];
}

/** Shows figures on the event queues and jobs. */
export function Figures({ overview }: { readonly overview: Overview }) {
  return <FigureList title="Event queues and jobs" figures={figuresOf(overview)} />;
}
