import { useEffect } from 'preact/hooks';
import { LoadedView } from '../../page/elements/loaded-view.js';
import { PageHeader } from '../../page/elements/page-header.js';
import { Problems } from '../../page/elements/problems.js';
import { Time } from '../../page/elements/time.js';
import { DeviceTable } from './device-table.js';
import { Figures } from './figures.js';
import { overview } from './live-overview.js';
import { RelayState } from './relay-state.js';

/** Pages on which the admin can fix a failed check, by the check's name. */
const pagesOfChecks = {
  relay: { link: '#/push', name: 'Push' },
  jobs: { link: '#/jobs', name: 'Jobs' },
};

/** Live overview of the server, updated by server-sent events. */
export function OverviewPage() {
  const load = () => overview.load();
  useEffect(() => {
    load();
  }, []);
  const state = overview.state.value;
  return (
    <>
      <PageHeader title="Overview">
        {state.kind === 'ready' && (
          <p class="soft">
            {state.answer.realm.name} at {state.answer.realm.url}. As of <Time at={state.answer.now} />.
            Version {state.answer.version}, started{' '}
            <Time at={state.answer.started_at} now={state.answer.now} />.
          </p>
        )}
      </PageHeader>
      <LoadedView state={state} retry={load}>
        {(answer) => (
          <>
            <Problems checks={answer.checks} pages={pagesOfChecks} />
            <RelayState link={answer.relay} now={answer.now} />
            <Figures overview={answer} />
            <DeviceTable devices={answer.devices} />
          </>
        )}
      </LoadedView>
    </>
  );
}
