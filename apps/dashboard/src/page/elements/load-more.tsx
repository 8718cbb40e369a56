import type { PagedResource } from '../api/paged-resource.js';
import { Fault } from './fault.js';

/** The button that loads the next page of a list. Hidden on the last page. */
export function LoadMore<Item>({ list }: { readonly list: PagedResource<Item> }) {
  const shown = list.resource.state.value;
  const more = list.more.value;
  if (shown.kind !== 'ready' || shown.answer.next === undefined) return null;
  return (
    <div class="more">
      <button type="button" aria-disabled={more === 'loading'} onClick={() => list.loadMore()}>
        {more === 'loading' ? 'Loading …' : 'Load more'}
      </button>
      <Fault sentence={typeof more === 'object' ? more.error : undefined} />
    </div>
  );
}
