import { parseTemplate } from 'url-template';

const literalCharacter = String.raw`(?:[!#$&()*+,\-./0-9:;=?@A-Z[\]_a-z~\u{A0}-\u{D7FF}\u{F900}-\u{FDCF}\u{FDF0}-\u{FFEF}\u{10000}-\u{EFFFD}]|%[0-9A-Fa-f]{2})`;
const nameCharacter = '(?:[A-Za-z0-9_]|%[0-9A-Fa-f]{2})';
const variable = String.raw`${nameCharacter}+(?:\.${nameCharacter}+)*(?::[1-9][0-9]{0,3}|\*)?`;
const expression = String.raw`\{[+#./;?&]?${variable}(?:,${variable})*\}`;

/** RFC 6570, sections 2.1 to 2.4: any text between expressions is made of characters that a URL may have. */
const templatePattern = new RegExp(`^(?:${literalCharacter}|${expression})*$`, 'u');
const expressionPattern = /\{[+#./;?&]?([^}]*)\}/g;

/**
 * What an author of a message would write to get elsewhere: to another scheme, to another host before or after the one
 * that is written, or to a part of the host.
 */
const treacherousCodes = [
  '',
  'a',
  '1',
  'javascript:alert(1)',
  '//host.example/',
  '@host.example/',
  '.host.example/',
];

/** Code points. */
const maximumTemplateCharacters = 2048;

/** What is wrong with a template, and whether it is its form or what it would lead to. */
export interface UrlTemplateProblem {
  readonly kind: 'form' | 'variables';
  readonly message: string;
}

/**
 * What keeps a text from being a playground's template: it is to be one of RFC 6570, with `code` and no other variable,
 * and to lead to the same http or https host whatever the code is. `undefined` when nothing does.
 */
export function urlTemplateProblem(template: string): UrlTemplateProblem | undefined {
  if ([...template].length > maximumTemplateCharacters)
    return form(`URL template cannot exceed ${maximumTemplateCharacters} characters.`);
  if (!templatePattern.test(template)) return form('Invalid URL template.');
  if (!/^https?:\/\//i.test(template)) return form('URL template must begin with https:// or http://.');
  const names = variablesOf(template);
  if (!names.includes('code'))
    return { kind: 'variables', message: 'URL template lacks the variable "code".' };
  if (names.some((name) => name !== 'code'))
    return { kind: 'variables', message: 'URL template may have no variable but "code".' };
  const hosts = new Set(treacherousCodes.map((code) => hostOf(parseTemplate(template).expand({ code }))));
  if (hosts.size === 1 && !hosts.has(undefined)) return undefined;
  return form('URL template must lead to one http or https host, whatever the code is.');
}

function variablesOf(template: string): string[] {
  return [...template.matchAll(expressionPattern)]
    .flatMap(([, variables = '']) => variables.split(','))
    .map((each) => each.replace(/(?::\d+|\*)$/, ''));
}

function hostOf(url: string): string | undefined {
  if (!URL.canParse(url)) return undefined;
  const { protocol, username, password, host } = new URL(url);
  return /^https?:$/.test(protocol) ? JSON.stringify([protocol, username, password, host]) : undefined;
}

function form(message: string): UrlTemplateProblem {
  return { kind: 'form', message };
}
