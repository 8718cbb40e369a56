import { RE2JS, RE2JSException, RE2JSSyntaxException } from 're2js';
import { parseTemplate, type Template } from 'url-template';
import { urlTemplateFormProblem, urlTemplateVariables } from './url-template.js';

/** A compiled pattern that turns its matches into links. Only `parseLinkifier` creates it. */
export interface Linkifier {
  /** Matches the pattern as a whole word. Group 1 is the text of the link. */
  readonly matcher: RE2JS;
  readonly template: Template;
}

/** Reason why `parseLinkifier` rejects a linkifier, and which part is wrong: the pattern, the URL template, or both. */
export interface LinkifierProblem {
  readonly kind: 'problem';
  readonly about: 'pattern' | 'url_template' | 'both';
  readonly message: string;
}

/**
 * Boundaries of a match: the start of the text, whitespace or one of these marks precedes it, and no letter or digit
 * follows it.
 */
const before = String.raw`(?:^|[\s\x{85}\pZ'"(,:<])`;
const after = String.raw`(?:$|[^\pL\pN])`;

/** Maximum RE2 program size of a compiled pattern. Search time grows with program size. */
const maxProgramSize = 500;

/**
 * Maximum length of a pattern, in code points. The limit keeps compilation fast, and lets a pattern fit into a database
 * index.
 */
const maxPatternCharacters = 500;

/**
 * Compiles a linkifier from a regular expression in RE2 syntax, which matches in linear time, and an RFC 6570 URL
 * template. The template's variables must be exactly the pattern's named groups. Limits: 500 code points and an RE2
 * program size of 500 for the pattern, 2,048 code points for the template. Returns a problem with a message for the
 * client if either is invalid.
 */
export function parseLinkifier(
  pattern: string,
  urlTemplate: string,
): { readonly kind: 'linkifier'; readonly linkifier: Linkifier } | LinkifierProblem {
  // Compiles the bare pattern first, because an unbalanced `)` would otherwise close the group that encloses the
  // pattern below.
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

/** Compiles `expression`, which is `pattern` or contains it, and enforces the size limits. */
function compile(pattern: string, expression: string): { readonly matcher: RE2JS } | LinkifierProblem {
  if (pattern === '') return problem('pattern', 'Pattern cannot be blank.');
  if ([...pattern].length > maxPatternCharacters)
    return problem('pattern', `Pattern cannot exceed ${maxPatternCharacters} characters.`);
  try {
    const matcher = RE2JS.compile(expression);
    if (matcher.programSize() <= maxProgramSize) return { matcher };
    return problem('pattern', 'Pattern is too complex.');
  } catch (error) {
    if (error instanceof RE2JSSyntaxException)
      return problem('pattern', `Bad regular expression: ${error.getDescription()}.`);
    if (error instanceof RE2JSException) return problem('pattern', 'Bad regular expression.');
    throw error;
  }
}

function problem(about: LinkifierProblem['about'], message: string): LinkifierProblem {
  return { kind: 'problem', about, message };
}
