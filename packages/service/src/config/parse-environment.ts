import { ConfigurationError } from './configuration-error.js';

/** The variables in a file. */
export interface ParsedEnvironment {
  readonly values: Readonly<Record<string, string>>;
  /** The line number of each variable, starting at 1. */
  readonly lines: ReadonlyMap<string, number>;
}

/** The value of a variable, and the text after it. */
interface Assignment {
  readonly value: string;
  readonly rest: string;
}

const comment = /^[#;][^\n]*/;
const beforeValue = /^([A-Za-z_]\w*)[ \t]*=[ \t]*/;
const exportWord = /^export[ \t]+/;
const singleQuoted = /^'([^']*)'[ \t]*/;
const doubleQuoted = /^"((?:[^"\\]|\\[\s\S])*)"[ \t]*/;
/**
 * Matches an unquoted value, up to the end of the line. A backslash continues the line, or makes the next character
 * literal.
 */
const unquoted = /^(?:\\[\s\S]|[^\\\n\r])*/;

/**
 * Parses a file as systemd parses an `EnvironmentFile=`: one `NAME=value` per line, comments after `#` or `;`, quotes,
 * and a backslash at the end of a continued line. Also accepts `export` before a name. Unlike in systemd, a line
 * without an assignment is an error.
 *
 * @param subject describes the file in error messages, which never show its content.
 * @throws ConfigurationError that contains the line number.
 */
export function parseEnvironment(text: string, subject: string): ParsedEnvironment {
  const values: Record<string, string> = {};
  const lines = new Map<string, number>();
  // Some editors begin a file with a byte-order mark.
  const given = text.replace(/^\uFEFF/, '').replaceAll('\r\n', '\n');
  let rest = given.trimStart();
  const line = () => given.slice(0, given.length - rest.length).split('\n').length;
  const fail = (problem: string): never => {
    throw new ConfigurationError([`${subject}, line ${line()}, ${problem}`]);
  };
  while (rest !== '') {
    if (comment.test(rest)) {
      rest = rest.replace(comment, '').trimStart();
      continue;
    }
    const named = rest.replace(exportWord, '');
    const [before, name] = beforeValue.exec(named) ?? [];
    if (before === undefined || name === undefined) return fail('is not NAME=value: correct it.');
    const read = readValue(named.slice(before.length));
    if (read === undefined) return fail('begins a quoted value that does not end: add the closing quote.');
    values[name] = read.value;
    lines.set(name, line());
    rest = read.rest.trimStart();
  }
  return { values, lines };
}

/** Reads a value: quoted parts, then text without quotes. Returns `undefined` if a quote is not closed. */
function readValue(text: string): Assignment | undefined {
  let value = '';
  let rest = text;
  for (;;) {
    const [quoted, single] = singleQuoted.exec(rest) ?? [];
    const [doubled, double] = doubleQuoted.exec(rest) ?? [];
    value += single ?? unescapeQuoted(double ?? '');
    const part = quoted ?? doubled;
    if (part === undefined) break;
    rest = rest.slice(part.length);
  }
  if (/^["']/.test(rest)) return undefined;
  const [line = ''] = unquoted.exec(rest) ?? [];
  const trimmed = line.trimEnd();
  // Trailing whitespace is trimmed, except for a space after a backslash, which belongs to the value.
  const kept = /(?<!\\)(?:\\\\)*\\$/.test(trimmed) ? line.slice(0, trimmed.length + 1) : trimmed;
  return { value: value + kept.replace(/\\([\s\S])/g, unescapeOne), rest: rest.slice(line.length) };
}

function unescapeOne(_escape: string, character: string): string {
  return character === '\n' ? '' : character;
}

/** Removes backslashes. Within double quotes, a backslash escapes only these characters and joins lines. */
function unescapeQuoted(text: string): string {
  return text.replace(/\\(["\\$`\n])/g, unescapeOne);
}
