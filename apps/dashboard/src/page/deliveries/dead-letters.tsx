import { useEffect } from 'preact/hooks';
import type { DeadLetter, DeadLetterPage } from '../api/answers.js';
import { PagedResource, query } from '../api/paged-resource.js';
import { get, post } from '../api/request.js';
import { counted } from '../elements/count.js';
import { DeadTable } from '../elements/dead-table.js';
import { LoadMore } from '../elements/load-more.js';
import { Empty, LoadedView } from '../elements/loaded-view.js';
import { announce } from '../elements/notice.js';
import { programNow } from '../live/live-stream.js';

const deadLetters = new PagedResource<DeadLetter>(async (after, abort) => {
  const page = await get<DeadLetterPage>(`/deliveries/dead${query({ after, limit: 50 })}`, abort);
  return { items: page.dead, next: page.next, total: page.total };
});

async function retry({ id, kind }: DeadLetter): Promise<void> {
  await post(`/deliveries/dead/${encodeURIComponent(id)}/retry`);
  await deadLetters.load();
  announce(`The relay tries ${kind} ${id} again.`);
}

/** Lists dead letters. Each has its reason and a retry button. */
export function DeadLetters() {
  const load = () => deadLetters.load();
  useEffect(() => {
    load();
  }, []);
  return (
    <section aria-labelledby="dead-title">
      <h2 id="dead-title">Dead letters</h2>
      <LoadedView state={deadLetters.resource.state.value} retry={load}>
        {({ items, total = items.length }) =>
          items.length === 0 ? (
            <Empty>None. The relay has not given up on any job.</Empty>
          ) : (
            <>
              <p class="soft">The relay has given up on {counted(total, 'job')}.</p>
              <DeadTable
                label="Table of dead letters"
                rows={items}
                hasServers
                now={programNow()}
                retry={retry}
              />
            </>
          )
        }
      </LoadedView>
      <LoadMore list={deadLetters} />
    </section>
  );
}
