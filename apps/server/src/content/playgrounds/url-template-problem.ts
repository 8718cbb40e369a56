import { urlTemplateFormProblem, urlTemplateVariables } from '@waxwing/markdown';
import { parseTemplate } from 'url-template';

/**
 * Probe values of `code` that could send the link to another scheme or host. The author of a message controls `code`.
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

/** A problem with a template's syntax or target, or with its variables. */
export interface UrlTemplateProblem {
  readonly kind: 'form' | 'variables';
  readonly message: string;
}

/**
 * Validates a playground's URL template: RFC 6570, with the single variable `code`, and the same http or https host
 * for every code. Returns the problem, or `undefined` if the template is valid.
 */
export function urlTemplateProblem(template: string): UrlTemplateProblem | undefined {
  const formProblem = urlTemplateFormProblem(template);
  if (formProblem !== undefined) return form(formProblem);
  if (!/^https?:\/\//i.test(template)) return form('URL template must begin with https:// or http://.');
  const names = urlTemplateVariables(template);
  if (!names.includes('code'))
    return { kind: 'variables', message: 'URL template lacks the variable "code".' };
  if (names.some((name) => name !== 'code'))
    return { kind: 'variables', message: 'URL template may have no variable other than "code".' };
  const hosts = new Set(treacherousCodes.map((code) => hostOf(parseTemplate(template).expand({ code }))));
  if (hosts.size === 1 && !hosts.has(undefined)) return undefined;
  return form('URL template must lead to the same http or https host for any code.');
}

function hostOf(url: string): string | undefined {
  if (!URL.canParse(url)) return undefined;
  const { protocol, username, password, host } = new URL(url);
  return /^https?:$/.test(protocol) ? JSON.stringify([protocol, username, password, host]) : undefined;
}

function form(message: string): UrlTemplateProblem {
  return { kind: 'form', message };
}
