import { count } from '../elements/count.js';
import { overview } from '../live/live-overview.js';
import { linkTo, type PageName, pageTitles, route } from './route.js';

/** Number of items on a page that need attention, such as dead letters. */
function attentionOf(page: PageName): { readonly number: number; readonly meaning: string } | undefined {
  const state = overview.state.value;
  if (state.kind !== 'ready') return undefined;
  if (page === 'overview') {
    return { number: state.answer.checks.filter(({ ok }) => !ok).length, meaning: 'wrong now' };
  }
  if (page === 'deliveries') return { number: state.answer.queue.dead, meaning: 'dead letters' };
  return undefined;
}

/** The links to all pages. */
export function Navigation() {
  return (
    <nav aria-label="Pages">
      <ul>
        {(Object.keys(pageTitles) as PageName[]).map((page) => {
          const attention = attentionOf(page);
          return (
            <li key={page}>
              <a href={linkTo(page)} aria-current={route.value === page ? 'page' : undefined}>
                {pageTitles[page]}
                {attention !== undefined && attention.number > 0 && (
                  <span class="attention">
                    {count(attention.number)}
                    <span class="unseen"> {attention.meaning}</span>
                  </span>
                )}
              </a>
            </li>
          );
        })}
      </ul>
    </nav>
  );
}
