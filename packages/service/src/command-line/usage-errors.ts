import type { Command } from 'commander';
import { hideSecrets } from '../config/misplaced-secret.js';

/** Patterns of Commander's error messages, each with its replacement. */
const sentences: readonly (readonly [RegExp, string])[] = [
  [/^unknown command '(.*)'\s*\(Did you mean (.*)\?\)$/s, 'there is no command "$1": did you mean "$2"?'],
  [/^unknown command '(.*)'$/s, 'there is no command "$1"'],
  [/^unknown option '(.*)'\s*\(Did you mean (.*)\?\)$/s, 'there is no option $1: did you mean $2?'],
  [/^unknown option '(.*)'$/s, 'there is no option $1'],
  [/^missing required argument '(.*)'$/, '<$1> is missing'],
  [/^required option '(.*)' not specified$/, 'the option $1 is missing'],
  [/^option '(.*)' argument missing$/, 'the option $1 needs a value'],
  [
    /^too many arguments(?: for '.*')?\. Expected (\d+) arguments? but got (\d+)\.$/,
    'too many arguments ($2, and the maximum is $1)',
  ],
  [/^option '(.*)' argument '(.*)' is invalid\. It (.*?)\.?$/s, '$1 is "$2": it $3'],
  [
    /^option '(.*)' argument '(.*)' is invalid\. Allowed choices are (.*)\.$/s,
    '$1 is "$2": it must be one of $3',
  ],
  [/^command-argument value '(.*)' is invalid for argument '(.*)'\. It (.*?)\.?$/s, '<$2> is "$1": it $3'],
  [
    /^command-argument value '(.*)' is invalid for argument '(.*)'\. Allowed choices are (.*)\.$/s,
    '<$2> is "$1": it must be one of $3',
  ],
];

/**
 * Rewrites usage errors of a program and its commands as one sentence that points to `--help`. Hides every argument in
 * `argv` that may be a secret.
 */
export function printUsageErrors(command: Command, argv: readonly string[], path = command.name()): void {
  command.configureOutput({
    outputError: (text, write) => {
      const said = hideSecrets(text.trim().replace(/^error: /, ''), argv);
      const [pattern, words] = sentences.find(([form]) => form.test(said)) ?? [];
      const sentence = pattern === undefined || words === undefined ? said : said.replace(pattern, words);
      const end = /[.?]$/.test(sentence) ? ' ' : ': ';
      write(`${path}: ${sentence}${end}"${path} --help" lists what you can type.\n`);
    },
  });
  for (const one of command.commands) printUsageErrors(one, argv, `${path} ${one.name()}`);
}
