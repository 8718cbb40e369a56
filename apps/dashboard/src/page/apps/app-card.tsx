import { useSignal } from '@preact/signals';
import type { RelayApp } from '../api/answers.js';
import { post } from '../api/request.js';
import { ActionButton } from '../elements/action-button.js';
import { Badge, type Tone } from '../elements/badge.js';
import { vendorNames } from '../elements/names.js';
import { Time } from '../elements/time.js';

interface CheckAnswer {
  readonly ok: boolean;
  readonly cause?: string;
  readonly remedy?: string;
}

const breakers: Readonly<Record<RelayApp['breaker'], { readonly tone: Tone; readonly text: string }>> = {
  closed: { tone: 'good', text: 'sending' },
  'half-open': { tone: 'caution', text: 'trying again' },
  open: { tone: 'bad', text: 'paused' },
};

/** Badge for an app whose notifications the relay sends but the vendor currently does not accept. */
const troubled = { tone: 'caution', text: 'not accepted now' } as const;

/** One app at a vendor: its delivery state, the last success, and a check of its credential. */
export function AppCard({ app, now }: { readonly app: RelayApp; readonly now: number }) {
  const checked = useSignal<CheckAnswer | undefined>(undefined);
  const isTroubled = app.breaker === 'closed' && app.last_error !== undefined;
  const { tone, text } = isTroubled ? troubled : breakers[app.breaker];
  async function check(): Promise<void> {
    checked.value = await post<CheckAnswer>('/apps/check', { app_id: app.app_id });
  }
  return (
    <li class="panel app">
      <div class="key-head">
        <h2>{app.app_id}</h2>
        {/* The relay cannot check a credential at Apple's sandbox. */}
        {app.environment !== 'sandbox' && (
          <ActionButton act={check} name={`Check ${app.app_id}`}>
            Check
          </ActionButton>
        )}
      </div>
      <p class="soft">
        {vendorNames[app.vendor]}
        {app.environment !== undefined && `, ${app.environment}`}
      </p>
      <dl class="facts">
        <div>
          <dt>Deliveries</dt>
          <dd>
            <Badge tone={tone}>{text}</Badge>
          </dd>
        </div>
        <div>
          <dt>Last success</dt>
          <dd>
            <Time at={app.last_success_at} now={now} />
          </dd>
        </div>
      </dl>
      {app.last_error !== undefined && <p class="last-error">{app.last_error}</p>}
      <div role="status">{checked.value !== undefined && <CheckResult answer={checked.value} />}</div>
    </li>
  );
}

function CheckResult({ answer }: { readonly answer: CheckAnswer }) {
  if (answer.ok) return <p class="answer good">The vendor accepts the credential.</p>;
  return (
    <div class="answer bad">
      {answer.remedy !== undefined && <p class="remedy">{answer.remedy}</p>}
      {answer.cause !== undefined && <p>{answer.cause}</p>}
    </div>
  );
}
