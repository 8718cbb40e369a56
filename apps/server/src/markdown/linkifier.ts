import { RE2JS, RE2JSException } from 're2js';
import { parseTemplate, type Template } from 'url-template';

/** A pattern of the organisation whose matches become links. Made by `parseLinkifier` alone. */
export interface Linkifier {
  /** Finds the pattern where it stands as a word; the groups are its own and `link`. */
  readonly matcher: RE2JS;
  readonly template: Template;
}

/** Where a match may stand: after these, and before what is no letter and no digit. */
const before = String.raw`(?:^|[\s\x{85}\pZ'"(,:<])`;
const after = String.raw`(?:$|[^\pL\pN])`;

/** How large a compiled pattern may be, since the time of a search grows with it. */
const maxProgramSize = 500;

/**
 * Reads a linkifier: a regular expression of RE2's syntax, which is searched in linear time, and a URL template
 * (RFC 6570) whose variables are its named groups. Returns undefined when either is not valid or too large.
 */
export function parseLinkifier(pattern: string, urlTemplate: string): Linkifier | undefined {
  try {
    const matcher = RE2JS.compile(`${before}(?P<link>${pattern})${after}`);
    if (matcher.programSize() > maxProgramSize) return undefined;
    return { matcher, template: parseTemplate(urlTemplate) };
  } catch (error) {
    if (error instanceof RE2JSException) return undefined;
    throw error;
  }
}
