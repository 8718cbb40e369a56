import { useEffect } from 'preact/hooks';
import type { DeadLetter, DeadLetterPage } from '../api/answers.js';
import { PagedResource, query } from '../api/paged-resource.js';
import { get, post } from '../api/request.js';
import { ActionButton } from '../elements/action-button.js';
import { count, counted } from '../elements/count.js';
import { LoadMore } from '../elements/load-more.js';
import { Empty, LoadedView } from '../elements/loaded-view.js';
import { announce } from '../elements/notice.js';
import { ScrollTable } from '../elements/scroll-table.js';
import { Time } from '../elements/time.js';
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

/** Dead letters with the reason of each, and a button that retries each. */
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
            <Empty>None. The relay has given up nothing.</Empty>
          ) : (
            <>
              <p class="soft">The relay has given up {counted(total, 'job')}.</p>
              <DeadTable items={items} />
            </>
          )
        }
      </LoadedView>
      <LoadMore list={deadLetters} />
    </section>
  );
}

function DeadTable({ items }: { readonly items: readonly DeadLetter[] }) {
  const now = programNow();
  return (
    <ScrollTable label="Table of dead letters" className="rows">
      <thead>
        <tr>
          <th scope="col">Job</th>
          <th scope="col">Reason</th>
          <th scope="col">Server</th>
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
        {items.map((letter) => (
          <tr key={letter.id}>
            <th scope="row" data-label="Job">
              <span class="name">{letter.kind}</span>
              <code class="soft id">{letter.id}</code>
            </th>
            <td data-label="Reason" class="reason">
              {letter.reason}
            </td>
            <td data-label="Server">
              {letter.server === undefined ? '–' : <code class="soft">{letter.server}</code>}
            </td>
            <td data-label="Attempts" class="number">
              {count(letter.attempts)}
            </td>
            <td data-label="Given up">
              <Time at={letter.died_at} now={now} />
            </td>
            <td class="row-action">
              <ActionButton act={() => retry(letter)} name={`Retry ${letter.kind} ${letter.id}`}>
                Retry
              </ActionButton>
            </td>
          </tr>
        ))}
      </tbody>
    </ScrollTable>
  );
}
