import { type Attention, failedChecks } from '../page/shell/page-list.js';
import { start } from '../page/start.js';
import { JobsPage } from './jobs/jobs-page.js';
import { overview } from './overview/live-overview.js';
import { OverviewPage } from './overview/overview-page.js';
import { PushPage } from './push/push-page.js';

function deadJobs(): Attention | undefined {
  const state = overview.state.value;
  if (state.kind !== 'ready') return undefined;
  return { number: state.answer.jobs.reduce((sum, { dead }) => sum + dead, 0), meaning: 'given up' };
}

start({
  overview,
  pages: {
    overview: { title: 'Overview', View: OverviewPage, attention: () => failedChecks(overview) },
    push: { title: 'Push', View: PushPage },
    jobs: { title: 'Jobs', View: JobsPage, attention: deadJobs },
  },
});
