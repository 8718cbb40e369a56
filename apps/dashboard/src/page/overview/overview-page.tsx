import { useEffect } from 'preact/hooks';
import { LoadedView } from '../elements/loaded-view.js';
import { PageHeader } from '../elements/page-header.js';
import { Problems } from '../elements/problems.js';
import { Time } from '../elements/time.js';
import { Figures } from './figures.js';
import { overview } from './live-overview.js';
import { MinuteCharts } from './minute-charts.js';

/** Pages on which the operator can fix a failed check, by the check's name. */
const pagesOfChecks = {
  keys: { link: '#/keys', name: 'Keys' },
  'key list': { link: '#/keys', name: 'Keys' },
  vendors: { link: '#/apps', name: 'Apps' },
  deletions: { link: '#/deliveries', name: 'Deliveries' },
  'dead letters': { link: '#/deliveries', name: 'Deliveries' },
};

/** Live overview of the relay, updated by server-sent events. */
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
            As of <Time at={state.answer.now} />. Version {state.answer.version}, started{' '}
            <Time at={state.answer.started_at} now={state.answer.now} />.
          </p>
        )}
      </PageHeader>
      <LoadedView state={state} retry={load}>
        {(answer) => (
          <>
            <Problems checks={answer.checks} pages={pagesOfChecks} />
            <Figures overview={answer} />
            <MinuteCharts overview={answer} />
          </>
        )}
      </LoadedView>
    </>
  );
}
