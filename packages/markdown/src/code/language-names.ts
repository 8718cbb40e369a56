import { highlighterLanguages } from './highlighter-languages.js';

/**
 * Display names of Pygments lexers, which clients use to look up code playgrounds. Each row contains the display name,
 * the highlight.js name, and aliases that only Pygments supports.
 */
const pygmentsNames: readonly (readonly [displayName: string, highlighterName: string, words?: string])[] = [
  ['ApacheConf', 'apache', 'aconf'],
  ['autohotkey', 'autohotkey'],
  ['Bash', 'bash', 'ksh openrc'],
  ['Bash Session', 'shell', 'shell-session'],
  ['Batchfile', 'dos', 'dosbatch winbatch'],
  ['ABNF', 'abnf'],
  ['EBNF', 'ebnf'],
  ['BNF', 'bnf'],
  ['Common Lisp', 'lisp', 'common-lisp cl'],
  ['C++', 'cpp'],
  ['Django/Jinja', 'django'],
  ['Docker', 'dockerfile'],
  ['HTML', 'xml', 'html'],
  ['XML', 'xml', 'xml'],
  ['INI', 'ini', 'ini cfg dosini'],
  ['TOML', 'ini', 'toml'],
  ['Julia console', 'julia-repl', 'jlcon'],
  ['LessCss', 'less'],
  ['LLVM', 'llvm'],
  ['NASM', 'x86asm', 'nasm'],
  ['Nginx configuration file', 'nginx'],
  ['Nimrod', 'nim', 'nimrod'],
  ['PHP', 'php', 'php3 php4 php5'],
  ['PostgreSQL SQL dialect', 'pgsql'],
  ['Properties', 'properties', 'jproperties'],
  ['Protocol Buffer', 'protobuf'],
  ['Python', 'python', 'python3 py3 sage'],
  ['Python 2.x', 'python', 'python2 py2'],
  ['Python console session', 'python-repl'],
  ['S', 'r', 's splus'],
  ['Standard ML', 'sml'],
  ['TeX', 'latex'],
  ['Text only', 'plaintext'],
  ['VB.net', 'vbnet', 'vb.net'],
  ['verilog', 'verilog'],
  ['vhdl', 'vhdl'],
  ['VimL', 'vim'],
];

interface CodeLanguage {
  readonly displayName: string;
  /** The language's name in highlight.js; undefined if highlight.js does not support it. */
  readonly highlighterName: string | undefined;
}

const languages = readLanguages();

function readLanguages(): ReadonlyMap<string, CodeLanguage> {
  const found = new Map<string, CodeLanguage>();
  const add = (word: string, language: CodeLanguage) => {
    if (!found.has(word.toLowerCase())) found.set(word.toLowerCase(), language);
  };
  for (const [displayName, highlighterName, words] of pygmentsNames) {
    const language = { displayName, highlighterName };
    for (const word of [displayName, ...(words?.split(' ') ?? [])]) add(word, language);
  }
  for (const [highlighterName, name, aliases] of highlighterLanguages) {
    const pygmentsName = pygmentsNames.findLast(([, highlighter]) => highlighter === highlighterName)?.[0];
    const language = {
      displayName: found.get(highlighterName)?.displayName ?? pygmentsName ?? name,
      highlighterName,
    };
    for (const word of [highlighterName, name, ...(aliases?.split(' ') ?? [])]) add(word, language);
  }
  return found;
}

/**
 * Resolves the language word of a code fence, ignoring case. An unknown word becomes its own display name and has no
 * `highlighterName`.
 */
export function resolveLanguage(word: string): CodeLanguage {
  return languages.get(word.toLowerCase()) ?? { displayName: word, highlighterName: undefined };
}

/**
 * The display names of all known languages, sorted. The `data-code-language` attribute contains one of these names, or
 * an unknown word as typed.
 */
export const knownLanguages: readonly string[] = [
  ...new Set([...languages.values()].map(({ displayName }) => displayName)),
].sort((one, other) => one.localeCompare(other, 'en'));

/** Returns whether a word is a language name or alias in highlight.js or Pygments, ignoring case. */
export function isKnownLanguage(word: string): boolean {
  return languages.has(word.toLowerCase());
}
