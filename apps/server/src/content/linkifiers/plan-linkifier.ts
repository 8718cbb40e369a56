import { parseLinkifier } from '@waxwing/markdown';
import { type ProtocolError, refused } from '@waxwing/protocol';
import { nameProblem } from '../../platform/names/name-problem.js';
import type { LinkifierRecord, PlannedLinkifier } from './linkifier-store.js';

/** Bounds the rendering cost: each sent message is matched against all linkifiers. */
const maximumLinkifiers = 50;

/**
 * Checks a linkifier and returns it trimmed.
 * @throws ProtocolError BAD_REQUEST with `errors`: a list of one sentence for the wrong field, or for `__all__` if
 * pattern and template do not match.
 */
export function planLinkifier(requested: PlannedLinkifier): PlannedLinkifier {
  const pattern = requested.pattern.trim();
  const template = requested.url_template.trim();
  const parsed = parseLinkifier(pattern, template);
  if (parsed.kind === 'problem')
    throw refusedLinkifier(parsed.about === 'both' ? '__all__' : parsed.about, parsed.message);
  const problem = nameProblem('pattern', pattern);
  if (problem !== undefined) throw refusedLinkifier('pattern', problem);
  return { pattern, url_template: template };
}

/** @throws ProtocolError BAD_REQUEST if the maximum is reached. */
export function requireRoom(linkifiers: readonly LinkifierRecord[]): void {
  if (linkifiers.length >= maximumLinkifiers)
    throw refusedLinkifier('__all__', `There are ${maximumLinkifiers} linkifiers, which is the most.`);
}

/** @throws ProtocolError BAD_REQUEST if a linkifier other than `ownId` has the pattern. */
export function requireFree(linkifiers: readonly LinkifierRecord[], pattern: string, ownId?: number): void {
  if (linkifiers.some((each) => each.pattern === pattern && each.id !== ownId))
    throw refusedLinkifier('__all__', 'There is a linkifier with this pattern already.');
}

export function noSuchLinkifier(): ProtocolError {
  return refused('Linkifier not found.');
}

/** @throws ProtocolError BAD_REQUEST unless the ids name each linkifier exactly once. */
export function requireOrder(linkifiers: readonly LinkifierRecord[], ids: readonly number[]): void {
  const named = new Set(ids);
  const isEachOnce =
    named.size === ids.length &&
    named.size === linkifiers.length &&
    linkifiers.every(({ id }) => named.has(id));
  if (isEachOnce) return;
  throw refused('The ordered list must enumerate all existing linkifiers exactly once');
}

function refusedLinkifier(field: string, message: string): ProtocolError {
  return refused(message, { errors: { [field]: [message] } });
}
