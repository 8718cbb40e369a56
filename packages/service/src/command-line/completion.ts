import { Argument, type Command } from 'commander';

export const completionName = 'completion';

const completedShells = ['bash', 'zsh', 'fish'] as const;
type CompletedShell = (typeof completedShells)[number];

interface Completed {
  readonly word: string;
  readonly description: string;
}

/** The words that can follow a command path, such as ` keys rotate`. The empty path stands for the program itself. */
interface Candidates {
  readonly path: string;
  readonly words: readonly Completed[];
}

/** Adds `completion bash|zsh|fish`, which prints a script that completes all commands and options. */
export function addCompletion(program: Command, print: (text: string) => void): void {
  program
    .command(completionName)
    .description('print a shell completion script')
    .addArgument(new Argument('<shell>').choices(completedShells))
    .action((shell: CompletedShell) =>
      print(scripts[shell](program.name(), candidatesOf(program, '')).trimEnd()),
    );
}

function candidatesOf(command: Command, path: string): Candidates[] {
  const words = [
    ...command.commands.map((one) => ({ word: one.name(), description: one.description() })),
    ...command.registeredArguments.flatMap(({ argChoices = [], description }) =>
      argChoices.map((word) => ({ word, description })),
    ),
    ...command.options.map((one) => ({ word: one.long ?? one.flags, description: one.description })),
    { word: '--help', description: 'show help' },
  ];
  const further = command.commands.flatMap((one) => candidatesOf(one, `${path} ${one.name()}`));
  return [{ path, words }, ...further];
}

const scripts: Record<CompletedShell, (name: string, candidates: readonly Candidates[]) => string> = {
  bash: bashScript,
  zsh: zshScript,
  fish: fishScript,
};

function functionName(name: string): string {
  return `_${name.replaceAll('-', '_')}`;
}

/** Quotes a word for all three shells. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/**
 * Returns shell code that collects the commands before the cursor in the variable `place`. The variable cannot be named
 * `path`, because in zsh `path` mirrors `PATH`.
 */
function findPath(candidates: readonly Candidates[], words: string): string {
  const paths = candidates.filter(({ path }) => path !== '').map(({ path }) => quoted(path));
  return `  local word place=''
  for word in ${words}; do
    case "$place $word" in
      ${paths.join(' | ')}) place="$place $word" ;;
    esac
  done`;
}

function bashScript(name: string, candidates: readonly Candidates[]): string {
  const own = functionName(name);
  const cases = candidates.map(
    ({ path, words }) => `    ${quoted(path)}) words=${quoted(words.map(({ word }) => word).join(' '))} ;;`,
  );
  return `# Completion of ${name} for bash: source this file.
${own}() {
${findPath(candidates, `"\${COMP_WORDS[@]:1:COMP_CWORD-1}"`)}
  local words=''
  case "$place" in
${cases.join('\n')}
  esac
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F ${own} ${name}
`;
}

function zshScript(name: string, candidates: readonly Candidates[]): string {
  const own = functionName(name);
  const colonless = (text: string) => text.replaceAll(':', '\\:');
  const cases = candidates.map(({ path, words }) => {
    const described = words.map(({ word, description }) => quoted(`${word}:${colonless(description)}`));
    return `    ${quoted(path)}) found=(${described.join(' ')}) ;;`;
  });
  return `#compdef ${name}
# Completion of ${name} for zsh: source this file after compinit, or put it into a folder of fpath as ${own}.
${own}() {
${findPath(candidates, `"\${(@)words[2,CURRENT-1]}"`)}
  local -a found
  case "$place" in
${cases.join('\n')}
  esac
  _describe -t commands ${quoted(name)} found || _files
}
if [ "$funcstack[1]" = ${quoted(own)} ]; then ${own} "$@"; else compdef ${own} ${name}; fi
`;
}

function fishScript(name: string, candidates: readonly Candidates[]): string {
  const own = `_${functionName(name)}_at`;
  const paths = candidates.filter(({ path }) => path !== '').map(({ path }) => quoted(path));
  // Within single quotes, fish escapes quotes and backslashes with a backslash.
  const text = (plain: string) => `'${plain.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
  const lines = candidates.flatMap(({ path, words }) =>
    words.map(({ word, description }) => {
      const completes = word.startsWith('--') ? `-l ${word.slice(2)}` : `-f -a ${word}`;
      return `complete -c ${name} -n ${text(`${own} '${path}'`)} ${completes} -d ${text(description)}`;
    }),
  );
  return `# Completion of ${name} for fish: source this file, or put it into ~/.config/fish/completions.
function ${own}
  set -l path ''
  for word in (commandline -opc)[2..]
    if contains -- "$path $word" ${paths.join(' ')}
      set path "$path $word"
    end
  end
  test "$path" = "$argv[1]"
end
${lines.join('\n')}
`;
}
