import type { KeyRing, KeyState, RingKey } from '../api/answers.js';
import { get } from '../api/request.js';
import { Resource } from '../api/resource.js';
import type { Tone } from '../elements/badge.js';

export const keyRing = new Resource<KeyRing>((abort) => get('/keys', abort));

export const stateTones: Readonly<Record<KeyState, Tone>> = {
  primary: 'accent',
  open: 'good',
  retired: 'plain',
  revoked: 'bad',
};

export const stateMeanings: Readonly<Record<KeyState, string>> = {
  primary: 'Phones seal new registrations to this key.',
  open: 'Phones no longer seal to this key, but the relay still opens registrations sealed to it.',
  retired: 'The private half is destroyed.',
  revoked: 'Refused, because the private half may have been stolen.',
};

/** A period during which a key is in one state. Instants are Unix milliseconds. */
export interface Span {
  readonly kind: 'primary' | 'open';
  readonly from: number;
  readonly until: number;
}

/** Returns the keys, oldest first. */
export function inOrder({ keys }: KeyRing): readonly RingKey[] {
  return [...keys].sort((one, other) => startOf(one) - startOf(other));
}

function startOf(key: RingKey): number {
  return key.primary_from ?? key.created_at;
}

/**
 * Returns the periods of a key: first primary, until the next key becomes primary; then open, until the key is closed,
 * retired or revoked. The ring does not store when a former primary key became primary, so the key's creation time is
 * used instead.
 */
export function spansOf(ring: KeyRing, key: RingKey): readonly Span[] {
  const start = startOf(key);
  const laterStarts = ring.keys.map(startOf).filter((other) => other > start);
  const end = key.retired_at ?? key.open_until ?? ring.now;
  const replaced = Math.min(end, ...laterStarts);
  const spans: Span[] = [
    { kind: 'primary', from: start, until: replaced },
    { kind: 'open', from: replaced, until: end },
  ];
  return spans.filter(({ from, until }) => until > from);
}

/** Returns the time range that the timeline covers: the lifetimes of all keys, and a margin after now. */
export function rangeOf(ring: KeyRing): { readonly from: number; readonly until: number } {
  const spans = ring.keys.flatMap((key) => spansOf(ring, key));
  const from = Math.min(ring.now - 86_400_000, ...spans.map((span) => span.from));
  const until = Math.max(ring.now, ...spans.map((span) => span.until));
  return { from, until: until + (until - from) * 0.02 };
}
