import type { KeyRing, RingKey } from '../api/answers.js';
import { Badge } from '../elements/badge.js';
import { inOrder, rangeOf, type Span, spansOf, stateTones } from './key-ring.js';

const day = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium' });
const width = 1000;
const height = 24;

/** Draws each key's lifetime on one time axis. The newest key is on top; a line marks the current time. */
export function RingTimeline({ ring }: { readonly ring: KeyRing }) {
  const { from, until } = rangeOf(ring);
  const placed = (at: number): number => ((at - from) / (until - from)) * width;
  return (
    <section aria-labelledby="timeline-title">
      <h2 id="timeline-title">The ring over time</h2>
      <div class="panel timeline">
        <ul>
          {[...inOrder(ring)].reverse().map((key) => (
            <Life key={key.id} ring={ring} ringKey={key} placed={placed} />
          ))}
        </ul>
        <p class="axis soft" aria-hidden="true">
          <span>{day.format(from)}</span>
          <span>{day.format(until)}</span>
        </p>
        <ul class="legend" aria-hidden="true">
          <li>
            <Swatch kind="primary" /> primary
          </li>
          <li>
            <Swatch kind="open" /> still opened
          </li>
          <li>
            <svg class="now" width="12" height="12" aria-hidden="true">
              <line x1="6" x2="6" y1="0" y2="12" />
            </svg>{' '}
            now
          </li>
        </ul>
      </div>
    </section>
  );
}

interface LifeProps {
  readonly ring: KeyRing;
  readonly ringKey: RingKey;
  /** Converts a time to a position in the drawing. */
  readonly placed: (at: number) => number;
}

function Life({ ring, ringKey, placed }: LifeProps) {
  const spans = spansOf(ring, ringKey);
  return (
    <li>
      <p class="life-name">
        <code>{ringKey.id}</code> <Badge tone={stateTones[ringKey.state]}>{ringKey.state}</Badge>
      </p>
      <svg
        class="life"
        viewBox={`0 0 ${width} ${height}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={inWords(spans)}
      >
        {spans.map(({ kind, from, until }) => (
          <rect
            key={kind}
            class={kind}
            x={placed(from)}
            y={5}
            width={Math.max(placed(until) - placed(from), 3)}
            height={height - 10}
          />
        ))}
        <line class="now" x1={placed(ring.now)} x2={placed(ring.now)} y1={0} y2={height} />
      </svg>
    </li>
  );
}

function Swatch({ kind }: { readonly kind: Span['kind'] }) {
  return (
    <svg class="life swatch" width="12" height="12" aria-hidden="true">
      <rect class={kind} width="12" height="12" />
    </svg>
  );
}

function inWords(spans: readonly Span[]): string {
  const parts = spans.map(
    ({ kind, from, until }) => `${kind} from ${day.format(from)} to ${day.format(until)}`,
  );
  return parts.length === 0 ? 'never used' : parts.join(', ');
}
