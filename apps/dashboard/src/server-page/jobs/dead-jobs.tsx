import { useEffect } from 'preact/hooks';
import { get, post } from '../../page/api/request.js';
import { Resource } from '../../page/api/resource.js';
import { DeadTable } from '../../page/elements/dead-table.js';
import { Empty, LoadedView } from '../../page/elements/loaded-view.js';
import { announce } from '../../page/elements/notice.js';
import { programNow } from '../../page/live/live-stream.js';
import type { DeadJob } from '../answers.js';

const deadJobs = new Resource<{ readonly dead: readonly DeadJob[] }>((abort) => get('/jobs/dead', abort));

async function retry({ id, kind }: DeadJob): Promise<void> {
  await post(`/jobs/dead/${encodeURIComponent(id)}/retry`);
  await deadJobs.load();
  announce(`The server tries ${kind} ${id} again.`);
}

/** Lists the oldest dead letters of the server. Each has its reason and a retry button. */
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
            <Empty>None. The server has not given up on any job.</Empty>
          ) : (
            <DeadTable
              label="Table of jobs that were given up"
              rows={dead}
              hasServers={false}
              now={programNow()}
              retry={retry}
            />
          )
        }
      </LoadedView>
    </section>
  );
}
