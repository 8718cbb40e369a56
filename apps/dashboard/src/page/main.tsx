import { AppsPage } from './apps/apps-page.js';
import { AuditPage } from './audit/audit-page.js';
import { DeliveriesPage } from './deliveries/deliveries-page.js';
import { KeysPage } from './keys/keys-page.js';
import { overview } from './overview/live-overview.js';
import { OverviewPage } from './overview/overview-page.js';
import { ServersPage } from './servers/servers-page.js';
import { type Attention, failedChecks } from './shell/page-list.js';
import { start } from './start.js';

function deadLetters(): Attention | undefined {
  const state = overview.state.value;
  return state.kind === 'ready' ? { number: state.answer.queue.dead, meaning: 'dead letters' } : undefined;
}

start({
  overview,
  pages: {
    overview: { title: 'Overview', View: OverviewPage, attention: () => failedChecks(overview) },
    keys: { title: 'Keys', View: KeysPage },
    servers: { title: 'Servers', View: ServersPage },
    apps: { title: 'Apps', View: AppsPage },
    deliveries: { title: 'Deliveries', View: DeliveriesPage, attention: deadLetters },
    audit: { title: 'Audit log', View: AuditPage },
  },
});
