import { useEffect, useRef } from 'preact/hooks';
import { productName } from '../api/program.js';
import { ActionButton } from '../elements/action-button.js';
import { dismissNotice, NoticeBar } from '../elements/notice.js';
import { ConnectionState } from '../live/connection-state.js';
import { closeLive, openLive } from '../live/live-stream.js';
import { signOut } from '../session/session.js';
import { Navigation } from './navigation.js';
import type { PageEntry, PageList } from './page-list.js';
import { route } from './route.js';

/** The frame around every page: skip link, navigation, connection state, and results of actions. */
export function Shell({ pages, overview }: PageList) {
  const [name, { title, View }] = openPage(pages);
  const main = useRef<HTMLElement>(null);
  const isFirst = useRef(true);
  useEffect(() => {
    openLive((latest) => overview.set(latest));
    return closeLive;
  }, []);
  useEffect(() => {
    document.title = `${title} – ${productName}`;
    dismissNotice();
    scrollTo(0, 0);
    // Focuses the heading, so that screen readers announce the new page as they do after a load.
    if (!isFirst.current) main.current?.querySelector('h1')?.focus();
    isFirst.current = false;
  }, [name]);
  return (
    <div class="shell">
      <a class="skip" href="#main">
        Skip to content
      </a>
      <header class="bar">
        <div class="bar-content">
          <p class="product">{productName}</p>
          <ConnectionState />
          <ActionButton act={signOut} className="quiet sign-out">
            Sign out
          </ActionButton>
          <Navigation pages={pages} open={name} />
        </div>
      </header>
      <main id="main" ref={main} tabIndex={-1}>
        <View key={name} />
      </main>
      <NoticeBar />
    </div>
  );
}

/** Returns the page that the URL names, or the first page. */
function openPage(pages: PageList['pages']): readonly [string, PageEntry] {
  const entries = Object.entries(pages);
  const found = entries.find(([name]) => name === route.value) ?? entries[0];
  if (found === undefined) throw new Error('there are no pages');
  return found;
}
