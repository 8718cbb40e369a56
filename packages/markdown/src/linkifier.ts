import { RE2JS, RE2JSException } from 're2js';
import { parseTemplate, type Template } from 'url-template';
import { urlTemplateFormProblem, urlTemplateVariables } from './url-template.js';

/** A pattern of the organisation whose matches become links. Made by `parseLinkifier` alone. */
export interface Linkifier {
  /** Finds the pattern where it stands as a word: what becomes the link is its first group. */
  readonly matcher: RE2JS;
  readonly template: Template;
}

/** Why a pattern and a URL template are no linkifier, and which of them is to blame. */
export interface LinkifierProblem {
  readonly kind: 'problem';
  readonly about: 'pattern' | 'url_template' | 'both';
  readonly message: string;
}

/** Where a match may stand: after these, and before what is no letter and no digit. */
const before = String.raw`(?:^|[\s\x{85}\pZ'"(,:<])`;
const after = String.raw`(?:$|[^\pL\pN])`;

/** How large a compiled pattern may be, since the time of a search grows with it. */
const maxProgramSize = 500;

/** Code points: so many can be compiled at once, and looked up by an index. */
const maxPatternCharacters = 500;

/**
 * Reads a linkifier: a regular expression of RE2's syntax, which is searched in linear time, and a URL template
 * (RFC 6570) whose variables are its named groups, all of them and no others. Neither may be too large.
 */
export function parseLinkifier(
  pattern: string,
  urlTemplate: string,
): { readonly kind: 'linkifier'; readonly linkifier: Linkifier } | LinkifierProblem {
  // Alone first: a bracket that it closes too often would close the one that is put around it.
  const alone = compile(pattern, pattern);
  if ('kind' in alone) return alone;
  const templateProblem =
    urlTemplate === '' ? 'URL template cannot be blank.' : urlTemplateFormProblem(urlTemplate);
  if (templateProblem !== undefined) return problem('url_template', templateProblem);
  const groups = Object.keys(alone.matcher.namedGroups());
  const variables = urlTemplateVariables(urlTemplate);
  const unknown = variables.find((name) => !groups.includes(name));
  if (unknown !== undefined)
    return problem('both', `Group '${unknown}' in URL template is not present in linkifier pattern.`);
  const unused = groups.find((name) => !variables.includes(name));
  if (unused !== undefined)
    return problem('both', `Group '${unused}' in linkifier pattern is not present in URL template.`);
  const word = compile(pattern, `${before}(${pattern})${after}`);
  if ('kind' in word) return word;
  return {
    kind: 'linkifier',
    linkifier: { matcher: word.matcher, template: parseTemplate(urlTemplate) },
  };
}

/** The expression that is made of a pattern, ready to search. */
function compile(pattern: string, expression: string): { readonly matcher: RE2JS } | LinkifierProblem {
  if (pattern === '') return problem('pattern', 'Pattern cannot be blank.');
  if ([...pattern].length > maxPatternCharacters)
    return problem('pattern', `Pattern cannot exceed ${maxPatternCharacters} characters.`);
  try {
    const matcher = RE2JS.compile(expression);
    if (matcher.programSize() <= maxProgramSize) return { matcher };
    return problem('pattern', 'Pattern is too complex.');
  } catch (error) {
    if (error instanceof RE2JSException)
      return problem('pattern', `Bad regular expression: ${error.message}`);
    throw error;
  }
}

function problem(about: LinkifierProblem['about'], message: string): LinkifierProblem {
  return { kind: 'problem', about, message };
}
