import { useEffect } from 'preact/hooks';
import { LoadedView } from '../elements/loaded-view.js';
import { PageHeader } from '../elements/page-header.js';
import { Time } from '../elements/time.js';
import { overview } from '../live/live-overview.js';
import { Figures } from './figures.js';
import { MinuteCharts } from './minute-charts.js';
import { Problems } from './problems.js';

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
            <Problems overview={answer} />
            <Figures overview={answer} />
            <MinuteCharts overview={answer} />
          </>
        )}
      </LoadedView>
    </>
  );
}
