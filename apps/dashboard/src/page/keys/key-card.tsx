import { useSignal } from '@preact/signals';
import type { RingKey } from '../api/answers.js';
import { Badge } from '../elements/badge.js';
import { Time } from '../elements/time.js';
import { EndKeyDialog } from './end-key-dialog.js';
import { stateMeanings, stateTones } from './key-ring.js';
import { KeyUses } from './key-uses.js';

/** Shows one key: its state, dates and use, and the actions for it. */
export function KeyCard({ ringKey, now }: { readonly ringKey: RingKey; readonly now: number }) {
  const asked = useSignal<'retire' | 'revoke' | undefined>(undefined);
  const { id, state } = ringKey;
  const isEnded = state === 'retired' || state === 'revoked';
  return (
    <li class="panel key">
      <div class="key-head">
        <h3>
          <code>{id}</code> <Badge tone={stateTones[state]}>{state}</Badge>
        </h3>
        <div class="actions">
          {state === 'open' && (
            <button type="button" onClick={() => (asked.value = 'retire')} aria-label={`Retire key ${id}`}>
              Retire …
            </button>
          )}
          {!isEnded && (
            <button type="button" onClick={() => (asked.value = 'revoke')} aria-label={`Revoke key ${id}`}>
              Revoke …
            </button>
          )}
        </div>
      </div>
      <p class="soft">{stateMeanings[state]}</p>
      <dl class="facts">
        <Fact name="Created" at={ringKey.created_at} />
        {ringKey.primary_from !== null && <Fact name="Primary from" at={ringKey.primary_from} />}
        {ringKey.open_until !== null && <Fact name="Opened until" at={ringKey.open_until} now={now} />}
        {ringKey.retired_at !== null && <Fact name="Ended" at={ringKey.retired_at} />}
      </dl>
      <KeyUses ringKey={ringKey} />
      {asked.value !== undefined && (
        <EndKeyDialog id={id} action={asked.value} close={() => (asked.value = undefined)} />
      )}
    </li>
  );
}

function Fact({ name, at, now }: { readonly name: string; readonly at: number; readonly now?: number }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>
        <Time at={at} />
        {now !== undefined && (
          <span class="soft">
            {' '}
            (<Time at={at} now={now} />)
          </span>
        )}
      </dd>
    </div>
  );
}
