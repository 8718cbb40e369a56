import type { KeyRing, KeyState, RingKey } from '../api/answers.js';
import { get } from '../api/request.js';
import { Resource } from '../api/resource.js';
import type { Tone } from '../elements/badge.js';

export const keyRing = new Resource<KeyRing>((abort) => get('/keys', abort));

export const stateTones: Readonly<Record<KeyState, Tone>> = {
  upcoming: 'plain',
  primary: 'accent',
  open: 'good',
  retired: 'plain',
  revoked: 'bad',
};

export const stateMeanings: Readonly<Record<KeyState, string>> = {
  upcoming: 'In the key list already; phones do not seal to it yet.',
  primary: 'Phones seal new registrations to it.',
  open: 'Phones no longer seal to it; the relay still opens registrations that are.',
  retired: 'Its private half is destroyed.',
  revoked: 'Refused, because its private half may be stolen.',
};

/** A part of a key's life. Instants are Unix milliseconds. */
export interface Span {
  readonly kind: 'upcoming' | 'primary' | 'open';
  readonly from: number;
  readonly until: number;
}

/** The oldest key first. */
export function inOrder({ keys }: KeyRing): readonly RingKey[] {
  return [...keys].sort((one, other) => startOf(one) - startOf(other));
}

function startOf(key: RingKey): number {
  return key.primary_from ?? key.created_at;
}

/** The parts of a key's life. It is primary until the next key is, and ends when it is closed, retired or revoked. */
export function spansOf(ring: KeyRing, key: RingKey): readonly Span[] {
  const start = startOf(key);
  const later = inOrder(ring).find(
    (other) => other !== key && other.state !== 'upcoming' && startOf(other) > start,
  );
  const end = key.retired_at ?? key.open_until ?? ring.now;
  const replaced =
    key.state === 'primary' ? ring.now : Math.min(later === undefined ? end : startOf(later), end);
  const spans: Span[] = [
    { kind: 'upcoming', from: key.created_at, until: Math.min(start, Math.max(end, ring.now)) },
    { kind: 'primary', from: start, until: replaced },
    { kind: 'open', from: replaced, until: end },
  ];
  return spans.filter(({ from, until }) => until > from);
}

/** The time that the timeline shows: all lives, and a little of the future. */
export function rangeOf(ring: KeyRing): { readonly from: number; readonly until: number } {
  const spans = ring.keys.flatMap((key) => spansOf(ring, key));
  const from = Math.min(ring.now - 86_400_000, ...spans.map((span) => span.from));
  const until = Math.max(ring.now, ...spans.map((span) => span.until));
  return { from, until: until + (until - from) * 0.02 };
}
