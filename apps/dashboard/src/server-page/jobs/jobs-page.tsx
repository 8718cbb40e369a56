import { count } from '../../page/elements/count.js';
import { Empty, LoadedView } from '../../page/elements/loaded-view.js';
import { PageHeader } from '../../page/elements/page-header.js';
import { ScrollTable } from '../../page/elements/scroll-table.js';
import type { JobCounts } from '../answers.js';
import { overview } from '../overview/live-overview.js';
import { DeadJobs } from './dead-jobs.js';

const states = [
  ['due', 'Due'],
  ['waiting', 'Waiting'],
  ['running', 'Running'],
  ['dead', 'Given up'],
] as const;

/** Page with the server's jobs by kind and state, and its dead letters. */
export function JobsPage() {
  return (
    <>
      <PageHeader title="Jobs" />
      <LoadedView state={overview.state.value} retry={() => overview.load()}>
        {({ jobs }) => <JobTable jobs={jobs} />}
      </LoadedView>
      <DeadJobs />
    </>
  );
}

function JobTable({ jobs }: { readonly jobs: readonly JobCounts[] }) {
  if (jobs.length === 0) return <Empty>None.</Empty>;
  return (
    <ScrollTable label="Table of jobs" className="rows">
      <thead>
        <tr>
          <th scope="col">Kind</th>
          {states.map(([state, title]) => (
            <th key={state} scope="col" class="number">
              {title}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {jobs.map((job) => (
          <tr key={job.kind}>
            <th scope="row" data-label="Kind">
              {job.kind}
            </th>
            {states.map(([state, title]) => (
              <td key={state} data-label={title} class="number">
                {count(job[state])}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </ScrollTable>
  );
}
