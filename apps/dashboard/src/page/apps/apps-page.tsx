import { useEffect } from 'preact/hooks';
import type { AppList } from '../api/answers.js';
import { get } from '../api/request.js';
import { Resource } from '../api/resource.js';
import { Empty, LoadedView } from '../elements/loaded-view.js';
import { PageHeader } from '../elements/page-header.js';
import { programNow } from '../live/live-stream.js';
import { AppCard } from './app-card.js';

const appList = new Resource<AppList>((abort) => get('/apps', abort));

/** Page with the apps that the relay has credentials for. */
export function AppsPage() {
  const load = () => appList.load();
  useEffect(() => {
    load();
  }, []);
  return (
    <>
      <PageHeader title="Apps">
        <button type="button" onClick={load}>
          Reload
        </button>
      </PageHeader>
      <LoadedView state={appList.state.value} retry={load}>
        {({ apps }) =>
          apps.length === 0 ? (
            <Empty>
              No app is configured. Add an app and its credentials to the file of RELAY_APPS_FILE.
            </Empty>
          ) : (
            <ul class="cards">
              {apps.map((app) => (
                <AppCard
                  key={`${app.vendor} ${app.app_id} ${app.environment}`}
                  app={app}
                  now={programNow()}
                />
              ))}
            </ul>
          )
        }
      </LoadedView>
    </>
  );
}
