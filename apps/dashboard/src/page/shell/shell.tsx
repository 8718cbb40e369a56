import { useEffect, useRef } from 'preact/hooks';
import { AppsPage } from '../apps/apps-page.js';
import { AuditPage } from '../audit/audit-page.js';
import { DeliveriesPage } from '../deliveries/deliveries-page.js';
import { ActionButton } from '../elements/action-button.js';
import { dismissNotice, NoticeBar } from '../elements/notice.js';
import { KeysPage } from '../keys/keys-page.js';
import { ConnectionState } from '../live/connection-state.js';
import { closeLive, openLive } from '../live/live-overview.js';
import { OverviewPage } from '../overview/overview-page.js';
import { ServersPage } from '../servers/servers-page.js';
import { signOut } from '../session/session.js';
import { Navigation } from './navigation.js';
import { pageTitles, route } from './route.js';

const pages = {
  overview: OverviewPage,
  keys: KeysPage,
  servers: ServersPage,
  apps: AppsPage,
  deliveries: DeliveriesPage,
  audit: AuditPage,
};

/** The frame around every page: skip link, navigation, connection state, and results of actions. */
export function Shell() {
  const name = route.value;
  const main = useRef<HTMLElement>(null);
  const isFirst = useRef(true);
  useEffect(() => {
    openLive();
    return closeLive;
  }, []);
  useEffect(() => {
    document.title = `${pageTitles[name]} – Waxwing relay`;
    dismissNotice();
    scrollTo(0, 0);
    // Screen readers read the heading of the page that was opened, as they do after a load.
    if (!isFirst.current) main.current?.querySelector('h1')?.focus();
    isFirst.current = false;
  }, [name]);
  const Page = pages[name];
  return (
    <div class="shell">
      <a class="skip" href="#main">
        Skip to content
      </a>
      <header class="bar">
        <div class="bar-content">
          <p class="product">Waxwing relay</p>
          <ConnectionState />
          <ActionButton act={signOut} className="quiet sign-out">
            Sign out
          </ActionButton>
          <Navigation />
        </div>
      </header>
      <main id="main" ref={main} tabIndex={-1}>
        <Page key={name} />
      </main>
      <NoticeBar />
    </div>
  );
}
