import { count } from '../elements/count.js';
import type { PageList } from './page-list.js';
import { linkTo } from './route.js';

interface NavigationProps extends Pick<PageList, 'pages'> {
  /** Name of the open page. */
  readonly open: string;
}

/** Shows links to all pages. */
export function Navigation({ pages, open }: NavigationProps) {
  return (
    <nav aria-label="Pages">
      <ul>
        {Object.entries(pages).map(([name, { title, attention }]) => {
          const needed = attention?.();
          return (
            <li key={name}>
              <a href={linkTo(name)} aria-current={name === open ? 'page' : undefined}>
                {title}
                {needed !== undefined && needed.number > 0 && (
                  <span class="attention">
                    {count(needed.number)}
                    <span class="unseen"> {needed.meaning}</span>
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
