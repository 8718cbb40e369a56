import { Badge, type Tone } from '../../page/elements/badge.js';
import { Time } from '../../page/elements/time.js';
import type { RelayLink } from '../answers.js';

const states: Readonly<Record<RelayLink['state'], { readonly tone: Tone; readonly text: string }>> = {
  none: { tone: 'plain', text: 'not configured' },
  untested: { tone: 'plain', text: 'no request yet' },
  working: { tone: 'good', text: 'answers' },
  failing: { tone: 'bad', text: 'fails' },
};

interface RelayStateProps {
  readonly link: RelayLink;
  readonly now: number;
}

/** Shows the state of the relay, according to the server's own requests. */
export function RelayState({ link, now }: RelayStateProps) {
  const { tone, text } = states[link.state];
  return (
    <section aria-labelledby="relay-title">
      <h2 id="relay-title">Relay</h2>
      <div class="panel">
        <p>
          <Badge tone={tone}>{text}</Badge>
          {link.last_success_at !== null && (
            <>
              {' '}
              Last answered <Time at={link.last_success_at} now={now} />.
            </>
          )}
          {link.failing_since !== null && (
            <>
              {' '}
              Failing since <Time at={link.failing_since} />.
            </>
          )}
        </p>
        <LastEvent title="Last error" event={link.last_error} now={now} />
        <LastEvent title="Last notification that was not delivered" event={link.last_rejection} now={now} />
      </div>
    </section>
  );
}

interface LastEventProps {
  readonly title: string;
  readonly event: RelayLink['last_error'];
  readonly now: number;
}

function LastEvent({ title, event, now }: LastEventProps) {
  if (event === null) return null;
  return (
    <p class="soft">
      {title}, <Time at={event.at} now={now} />: {event.reason}
    </p>
  );
}
