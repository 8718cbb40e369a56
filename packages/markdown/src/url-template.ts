const literalCharacter = String.raw`(?:[!#$&()*+,\-./0-9:;=?@A-Z[\]_a-z~\u{A0}-\u{D7FF}\u{F900}-\u{FDCF}\u{FDF0}-\u{FFEF}\u{10000}-\u{EFFFD}]|%[0-9A-Fa-f]{2})`;
const nameCharacter = '(?:[A-Za-z0-9_]|%[0-9A-Fa-f]{2})';
const variable = String.raw`${nameCharacter}+(?:\.${nameCharacter}+)*(?::[1-9][0-9]{0,3}|\*)?`;
const expression = String.raw`\{[+#./;?&]?${variable}(?:,${variable})*\}`;

/** A template (RFC 6570, sections 2.1 to 2.4). Literals may contain only characters that are allowed in a URL. */
const templatePattern = new RegExp(`^(?:${literalCharacter}|${expression})*$`, 'u');
const expressionPattern = /\{[+#./;?&]?([^}]*)\}/g;

/** Maximum length of a template, in code points. */
const maximumTemplateCharacters = 2048;

/**
 * Checks the syntax and length (at most 2,048 code points) of an RFC 6570 URL template. Returns a message for the
 * client, or undefined if the template is valid.
 */
export function urlTemplateFormProblem(template: string): string | undefined {
  if ([...template].length > maximumTemplateCharacters)
    return `URL template cannot exceed ${maximumTemplateCharacters} characters.`;
  return templatePattern.test(template) ? undefined : 'Invalid URL template.';
}

/** Returns the variable names of a URL template, in order and with duplicates. */
export function urlTemplateVariables(template: string): string[] {
  return [...template.matchAll(expressionPattern)]
    .flatMap(([, variables = '']) => variables.split(','))
    .map((each) => each.replace(/(?::\d+|\*)$/, ''));
}
