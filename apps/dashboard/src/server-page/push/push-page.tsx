import { useEffect } from 'preact/hooks';
import { get } from '../../page/api/request.js';
import { Resource } from '../../page/api/resource.js';
import { ActionButton } from '../../page/elements/action-button.js';
import { Badge } from '../../page/elements/badge.js';
import { LoadedView } from '../../page/elements/loaded-view.js';
import { PageHeader } from '../../page/elements/page-header.js';
import type { PushCheck } from '../answers.js';
import { TestForm } from './test-form.js';

const pushChecks = new Resource<{ readonly checks: readonly PushCheck[] }>((abort) => get('/push', abort));

/** Page with push checks, from the configuration to the phones, and a form that sends a test notification. */
export function PushPage() {
  const load = () => pushChecks.load();
  useEffect(() => {
    load();
  }, []);
  return (
    <>
      <PageHeader title="Push">
        <ActionButton act={load}>Check again</ActionButton>
      </PageHeader>
      <section aria-labelledby="checks-title">
        <h2 id="checks-title">Checks</h2>
        <LoadedView state={pushChecks.state.value} retry={load}>
          {({ checks }) => (
            <ul class="problems">
              {[...checks.filter(({ ok }) => !ok), ...checks.filter(({ ok }) => ok)].map((check) => (
                <Check key={`${check.name} ${check.cause}`} check={check} />
              ))}
            </ul>
          )}
        </LoadedView>
      </section>
      <TestForm />
    </>
  );
}

function Check({ check: { name, ok, cause, remedy } }: { readonly check: PushCheck }) {
  return (
    <li class={ok ? 'panel passed' : 'panel'}>
      <h3>
        {name} <Badge tone={ok ? 'good' : 'bad'}>{ok ? 'passes' : 'fails'}</Badge>
      </h3>
      {remedy !== null && <p class="remedy">{remedy}</p>}
      <p class="soft">{cause}</p>
    </li>
  );
}
