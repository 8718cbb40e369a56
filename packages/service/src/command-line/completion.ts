import { Argument, type Command } from 'commander';

/** The command that prints a completion script. */
export const completionName = 'completion';

const completedShells = ['bash', 'zsh', 'fish'] as const;
type CompletedShell = (typeof completedShells)[number];

interface Completed {
  readonly word: string;
  readonly description: string;
}

/** What may follow the commands typed so far, such as ` keys rotate`; nothing typed is the empty text. */
interface Place {
  readonly path: string;
  readonly words: readonly Completed[];
}

/** Adds `completion bash|zsh|fish`: a script by which that shell completes the commands and options that there are. */
export function addCompletion(program: Command, print: (text: string) => void): void {
  program
    .command(completionName)
    .description('print a script by which a shell completes what is typed')
    .addArgument(new Argument('<shell>').choices(completedShells))
    .action((shell: CompletedShell) =>
      print(scripts[shell](program.name(), placesOf(program, '')).trimEnd()),
    );
}

function placesOf(command: Command, path: string): Place[] {
  const words = [
    ...command.commands.map((one) => ({ word: one.name(), description: one.description() })),
    ...command.registeredArguments.flatMap(({ argChoices = [], description }) =>
      argChoices.map((word) => ({ word, description })),
    ),
    ...command.options.map((one) => ({ word: one.long ?? one.flags, description: one.description })),
    { word: '--help', description: 'show what can be typed here' },
  ];
  const further = command.commands.flatMap((one) => placesOf(one, `${path} ${one.name()}`));
  return [{ path, words }, ...further];
}

const scripts: Record<CompletedShell, (name: string, places: readonly Place[]) => string> = {
  bash: bashScript,
  zsh: zshScript,
  fish: fishScript,
};

function functionName(name: string): string {
  return `_${name.replaceAll('-', '_')}`;
}

/** In single quotes, as all three shells read them. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/**
 * The commands among the words before the cursor, one after the other, in `place`: zsh's own `path` is the list of
 * `PATH`.
 */
function findPath(places: readonly Place[], words: string): string {
  const paths = places.filter(({ path }) => path !== '').map(({ path }) => quoted(path));
  return `  local word place=''
  for word in ${words}; do
    case "$place $word" in
      ${paths.join(' | ')}) place="$place $word" ;;
    esac
  done`;
}

function bashScript(name: string, places: readonly Place[]): string {
  const own = functionName(name);
  const cases = places.map(
    ({ path, words }) => `    ${quoted(path)}) words=${quoted(words.map(({ word }) => word).join(' '))} ;;`,
  );
  return `# Completion of ${name} for bash: source this file.
${own}() {
${findPath(places, `"\${COMP_WORDS[@]:1:COMP_CWORD-1}"`)}
  local words=''
  case "$place" in
${cases.join('\n')}
  esac
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F ${own} ${name}
`;
}

function zshScript(name: string, places: readonly Place[]): string {
  const own = functionName(name);
  const colonless = (text: string) => text.replaceAll(':', '\\:');
  const cases = places.map(({ path, words }) => {
    const described = words.map(({ word, description }) => quoted(`${word}:${colonless(description)}`));
    return `    ${quoted(path)}) found=(${described.join(' ')}) ;;`;
  });
  return `#compdef ${name}
# Completion of ${name} for zsh: source this file after compinit, or put it into a folder of fpath as ${own}.
${own}() {
${findPath(places, `"\${(@)words[2,CURRENT-1]}"`)}
  local -a found
  case "$place" in
${cases.join('\n')}
  esac
  _describe -t commands ${quoted(name)} found || _files
}
if [ "$funcstack[1]" = ${quoted(own)} ]; then ${own} "$@"; else compdef ${own} ${name}; fi
`;
}

function fishScript(name: string, places: readonly Place[]): string {
  const own = `_${functionName(name)}_at`;
  const paths = places.filter(({ path }) => path !== '').map(({ path }) => quoted(path));
  // fish escapes a quote within quotes otherwise than the other two.
  const text = (plain: string) => `'${plain.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
  const lines = places.flatMap(({ path, words }) =>
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
