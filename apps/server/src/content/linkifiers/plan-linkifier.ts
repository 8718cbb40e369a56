import { linkifierExampleProblem, parseLinkifier, urlTemplateFormProblem } from '@waxwing/markdown';
import { type ProtocolError, refused } from '@waxwing/protocol';
import { nameProblem } from '../../platform/names/name-problem.js';
import type { LinkifierRecord, PlannedLinkifier } from './linkifier-store.js';

/** Maximum number of linkifiers. Bounds the rendering cost: each sent message is matched against all of them. */
const maximumLinkifiers = 50;

const maximumAlternatives = 20;

/** A requested linkifier. For the optional fields, an empty string removes the value and `undefined` keeps it. */
export interface LinkifierRequest {
  readonly pattern: string;
  readonly url_template: string;
  readonly example_input?: string | undefined;
  readonly reverse_template?: string | undefined;
  readonly alternative_url_templates?: readonly string[] | undefined;
}

/** The optional fields of a linkifier. */
type Optional = Omit<PlannedLinkifier, 'pattern' | 'url_template'>;
export const bareLinkifier: Optional = {
  example_input: null,
  reverse_template: null,
  alternative_url_templates: [],
};

/**
 * Validates a linkifier and returns it with surrounding whitespace removed.
 * @throws ProtocolError BAD_REQUEST with `errors`: one message under the name of the invalid field, or under `__all__`
 * if the pattern and template do not match each other.
 */
export function planLinkifier(requested: LinkifierRequest, before: Optional): PlannedLinkifier {
  const pattern = requested.pattern.trim();
  const template = requested.url_template.trim();
  const parsed = parseLinkifier(pattern, template);
  if (parsed.kind === 'problem')
    throw refusedLinkifier(parsed.about === 'both' ? '__all__' : parsed.about, parsed.message);
  const problem = nameProblem('pattern', pattern);
  if (problem !== undefined) throw refusedLinkifier('pattern', problem);
  return { pattern, url_template: template, ...planTemplates(pattern, requested, before) };
}

/** Validates the example and the templates that clients use to replace a pasted URL. */
function planTemplates(pattern: string, requested: LinkifierRequest, before: Optional): Optional {
  const part = (name: 'example_input' | 'reverse_template') => {
    const text = requested[name]?.trim() ?? before[name];
    return text === '' ? null : text;
  };
  const example_input = part('example_input');
  const reverse_template = part('reverse_template');
  const example = { input: example_input ?? undefined, reverseTemplate: reverse_template ?? undefined };
  const problem = linkifierExampleProblem(pattern, example);
  if (problem !== undefined) throw refusedLinkifier(problem.about, problem.message);
  const alternatives = requested.alternative_url_templates?.map((each) => each.trim());
  const name = 'alternative_url_templates';
  if (alternatives !== undefined && alternatives.length > maximumAlternatives)
    throw refusedLinkifier(name, `At most ${maximumAlternatives} alternative URL templates are allowed.`);
  for (const each of alternatives ?? []) {
    const wrong = each === '' ? 'URL template cannot be blank.' : urlTemplateFormProblem(each);
    if (wrong !== undefined) throw refusedLinkifier(name, wrong);
  }
  return { example_input, reverse_template, [name]: alternatives ?? before[name] };
}

/** @throws ProtocolError BAD_REQUEST if the maximum number of linkifiers is reached. */
export function requireRoom(linkifiers: readonly LinkifierRecord[]): void {
  if (linkifiers.length >= maximumLinkifiers)
    throw refusedLinkifier(
      '__all__',
      `There are already ${maximumLinkifiers} linkifiers, which is the maximum.`,
    );
}

/** @throws ProtocolError BAD_REQUEST if a linkifier other than the one with `ownId` already has the pattern. */
export function requireFree(linkifiers: readonly LinkifierRecord[], pattern: string, ownId?: number): void {
  if (linkifiers.some((each) => each.pattern === pattern && each.id !== ownId))
    throw refusedLinkifier('__all__', 'A linkifier with this pattern already exists.');
}

export function noSuchLinkifier(): ProtocolError {
  return refused('Linkifier not found.');
}

/** @throws ProtocolError BAD_REQUEST unless `ids` contains the id of each linkifier exactly once. */
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
