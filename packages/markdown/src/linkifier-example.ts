import { RE2JS } from 're2js';

/** An example text for a linkifier, and the template that clients use to convert a pasted URL back to such a text. */
export interface LinkifierExample {
  /** A text that the pattern matches in full. */
  readonly input: string | undefined;
  /** The example with `{name}` in place of each named group. `{{` and `}}` represent literal braces. */
  readonly reverseTemplate: string | undefined;
}

export interface LinkifierExampleProblem {
  readonly about: 'example_input' | 'reverse_template';
  readonly message: string;
}

/** Maximum length of the example and of the template, in code points. */
const maximumCharacters = 500;

const part = /\{\{|\}\}|\{([A-Za-z0-9_]+)\}|[^{}]+|[{}]/g;

/**
 * Checks a linkifier's example against its pattern, which `parseLinkifier` must have accepted. Filling in the reverse
 * template with the groups from the match must yield the example. Returns a problem with a message for the client, or
 * undefined if there is none.
 */
export function linkifierExampleProblem(
  pattern: string,
  { input, reverseTemplate }: LinkifierExample,
): LinkifierExampleProblem | undefined {
  if (input === undefined) {
    if (reverseTemplate === undefined) return undefined;
    return { about: 'reverse_template', message: 'A reverse template needs an example input.' };
  }
  if ([...input].length > maximumCharacters)
    return {
      about: 'example_input',
      message: `Example input cannot exceed ${maximumCharacters} characters.`,
    };
  const compiled = RE2JS.compile(pattern);
  const matcher = compiled.matcher(input);
  if (!matcher.matches())
    return { about: 'example_input', message: 'Example input does not match the pattern.' };
  if (reverseTemplate === undefined) return undefined;
  if ([...reverseTemplate].length > maximumCharacters)
    return {
      about: 'reverse_template',
      message: `Reverse template cannot exceed ${maximumCharacters} characters.`,
    };
  const groups = Object.keys(compiled.namedGroups());
  const made = fillIn(reverseTemplate, (name) => (groups.includes(name) ? matcher.group(name) : undefined));
  if (made === input) return undefined;
  return { about: 'reverse_template', message: 'Reverse template does not make the example input.' };
}

/** Fills in the names in a template. Returns undefined if a name has no value or a brace is unpaired. */
function fillIn(
  template: string,
  groupText: (name: string) => string | null | undefined,
): string | undefined {
  let text = '';
  for (const [whole, name] of template.matchAll(part)) {
    if (whole === '{' || whole === '}') return undefined;
    const value = name === undefined ? whole.replace(/^(?:\{\{|\}\})$/, whole.charAt(0)) : groupText(name);
    if (value === undefined) return undefined;
    text += value ?? '';
  }
  return text;
}
