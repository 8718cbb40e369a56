import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { LoadMore } from '../elements/load-more.js';
import { Empty, LoadedView } from '../elements/loaded-view.js';
import { PageHeader } from '../elements/page-header.js';
import { ScrollTable } from '../elements/scroll-table.js';
import { programNow } from '../live/live-stream.js';
import { InviteDialog } from './invite-dialog.js';
import { search, serverList } from './server-list.js';
import { ServerRow } from './server-row.js';
import { ServerSearch } from './server-search.js';

/** Page with the servers that send through this relay. */
export function ServersPage() {
  const isInviting = useSignal(false);
  const load = () => serverList.load();
  useEffect(() => {
    load();
  }, []);
  return (
    <>
      <PageHeader title="Servers">
        <button type="button" class="primary" onClick={() => (isInviting.value = true)}>
          Invite …
        </button>
      </PageHeader>
      <ServerSearch />
      <LoadedView state={serverList.resource.state.value} retry={load}>
        {({ items }) =>
          items.length === 0 ? (
            <Empty>
              {search.value === ''
                ? 'No server yet. Invite the first one.'
                : `No server matches “${search.value}”.`}
            </Empty>
          ) : (
            <ScrollTable label="Table of servers" className="rows">
              <ServerHead />
              <tbody>
                {items.map((server) => (
                  <ServerRow key={server.uuid} server={server} now={programNow()} />
                ))}
              </tbody>
            </ScrollTable>
          )
        }
      </LoadedView>
      <LoadMore list={serverList} />
      {isInviting.value && <InviteDialog close={() => (isInviting.value = false)} />}
    </>
  );
}

function ServerHead() {
  return (
    <thead>
      <tr>
        <th scope="col">Server</th>
        <th scope="col">State</th>
        <th scope="col">Last seen</th>
        <th scope="col" class="number">
          Devices
        </th>
        <th scope="col" class="number">
          This minute
        </th>
        <th scope="col" class="number">
          Last 24 hours
        </th>
        <th scope="col">
          <span class="unseen">Action</span>
        </th>
      </tr>
    </thead>
  );
}
