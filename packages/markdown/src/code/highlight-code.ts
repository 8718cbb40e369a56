import hljs from 'highlight.js/lib/core';
import { loadLanguage } from './load-language.js';

/**
 * Maps highlight.js scopes to the Pygments class names that stock clients style. Other scopes get no class, because a
 * client that finds an unknown class shows the whole block as raw HTML.
 */
const classOfScope: Readonly<Record<string, string>> = {
  addition: 'gi',
  attr: 'na',
  attribute: 'na',
  built_in: 'nb',
  bullet: 'k',
  'char.escape': 'se',
  class: 'nc',
  code: 'sb',
  comment: 'c',
  deletion: 'gd',
  doctag: 'cs',
  emphasis: 'ge',
  formula: 'm',
  function: 'nf',
  keyword: 'k',
  link: 'sx',
  literal: 'kc',
  meta: 'cp',
  'meta.prompt': 'gp',
  name: 'nt',
  number: 'm',
  operator: 'o',
  property: 'py',
  punctuation: 'p',
  quote: 'ge',
  regexp: 'sr',
  section: 'gh',
  'selector-attr': 'na',
  'selector-class': 'nc',
  'selector-id': 'nn',
  'selector-pseudo': 'nd',
  'selector-tag': 'nt',
  string: 's',
  strong: 'gs',
  subst: 'si',
  symbol: 'ss',
  tag: 'nt',
  'template-tag': 'cp',
  'template-variable': 'nv',
  title: 'nf',
  'title.class': 'nc',
  'title.class.inherited': 'nc',
  'title.function': 'nf',
  'title.function.invoke': 'nf',
  type: 'kt',
  variable: 'nv',
  'variable.constant': 'no',
  'variable.language': 'bp',
};

const part = /<span class="([^"]*)">|<\/span>|[^<]+/g;

/**
 * Highlights code. Returns HTML that consists of escaped text and `span` elements, which never nest. `highlighterName`
 * is the language's name in highlight.js.
 */
export function highlightCode(code: string, highlighterName: string): string {
  loadLanguage(highlighterName);
  const { value } = hljs.highlight(code, { language: highlighterName, ignoreIllegals: true });
  const open: string[] = [];
  let html = '';
  for (const [text, classes] of value.matchAll(part)) {
    if (classes !== undefined) open.push(classOf(classes) ?? open.at(-1) ?? '');
    else if (text === '</span>') open.pop();
    else html += open.at(-1) ? `<span class="${open.at(-1)}">${text}</span>` : text;
  }
  return html;
}

/**
 * Returns the Pygments class for a `class` attribute written by highlight.js. For example, `hljs-title function_` means
 * the scope `title.function`.
 */
function classOf(classes: string): string | undefined {
  const scope = classes
    .replace(/^hljs-/, '')
    .replace(/_+(?= |$)/g, '')
    .replaceAll(' ', '.');
  return classOfScope[scope] ?? classOfScope[scope.split('.')[0] as string];
}
