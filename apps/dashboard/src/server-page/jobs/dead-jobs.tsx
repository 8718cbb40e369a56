import { useEffect } from 'preact/hooks';
import { get, post } from '../../page/api/request.js';
import { Resource } from '../../page/api/resource.js';
import { ActionButton } from '../../page/elements/action-button.js';
import { count } from '../../page/elements/count.js';
import { Empty, LoadedView } from '../../page/elements/loaded-view.js';
import { announce } from '../../page/elements/notice.js';
import { ScrollTable } from '../../page/elements/scroll-table.js';
import { Time } from '../../page/elements/time.js';
import { programNow } from '../../page/live/live-stream.js';
import type { DeadJob } from '../answers.js';

const deadJobs = new Resource<{ readonly dead: readonly DeadJob[] }>((abort) => get('/jobs/dead', abort));

async function retry({ id, kind }: DeadJob): Promise<void> {
  await post(`/jobs/dead/${encodeURIComponent(id)}/retry`);
  await deadJobs.load();
  announce(`The server tries ${kind} ${id} again.`);
}

/** The oldest jobs that the server has given up, with the reason of each, and a button that retries each. */
export function DeadJobs() {
  const load = () => deadJobs.load();
  useEffect(() => {
    load();
  }, []);
  return (
    <section aria-labelledby="dead-title">
      <h2 id="dead-title">Given up</h2>
      <LoadedView state={deadJobs.state.value} retry={load}>
        {({ dead }) =>
          dead.length === 0 ? (
            <Empty>None. The server has given up nothing.</Empty>
          ) : (
            <DeadTable dead={dead} />
          )
        }
      </LoadedView>
    </section>
  );
}

function DeadTable({ dead }: { readonly dead: readonly DeadJob[] }) {
  const now = programNow();
  return (
    <ScrollTable label="Table of jobs that were given up" className="rows">
      <thead>
        <tr>
          <th scope="col">Job</th>
          <th scope="col">Reason</th>
          <th scope="col" class="number">
            Attempts
          </th>
          <th scope="col">Given up</th>
          <th scope="col">
            <span class="unseen">Action</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {dead.map((job) => (
          <tr key={job.id}>
            <th scope="row" data-label="Job">
              <span class="name">{job.kind}</span>
              <code class="soft id">{job.id}</code>
            </th>
            <td data-label="Reason" class="reason">
              {job.reason}
            </td>
            <td data-label="Attempts" class="number">
              {count(job.attempts)}
            </td>
            <td data-label="Given up">
              <Time at={job.died_at} now={now} />
            </td>
            <td class="row-action">
              <ActionButton act={() => retry(job)} name={`Retry ${job.kind} ${job.id}`}>
                Retry
              </ActionButton>
            </td>
          </tr>
        ))}
      </tbody>
    </ScrollTable>
  );
}
