import { readFile } from 'node:fs/promises';
import { ConfigurationError } from './configuration-error.js';
import type { Environment } from './environment-reader.js';
import { fileTrouble } from './file-trouble.js';
import { readPrivateFile } from './private-file.js';

const linePattern = /^(?:export\s+)?([A-Za-z_]\w*)\s*=\s*(.*)$/;
const secretName = /(?:PASSWORD|PASSPHRASE|SECRET|TOKEN|_KEY)$/;
/** A URL with a password, before its host or among its parameters. */
const urlWithPassword = /^\w+:\/\/(?:[^/@]*:[^@]+@|.*[?&]password=)/;

/**
 * Reads an environment file as systemd's `EnvironmentFile=` does, one `NAME=value` a line. The file must be private, as
 * {@link readPrivateFile} requires, if it contains a secret, such as a database URL with a password.
 * @throws ConfigurationError, whose cause is the operating system's error if the file cannot be read.
 */
export async function readEnvironmentFile(path: string): Promise<Environment> {
  const subject = `The environment file ${path}`;
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (cause) {
    throw new ConfigurationError([`${subject} cannot be read: ${fileTrouble(cause)}.`], { cause });
  }
  const environment = parse(text, subject);
  if (!Object.entries(environment).some(isSecret)) return environment;
  return parse(await readPrivateFile(path, 'it contains a secret'), subject);
}

function isSecret([name, value = '']: [string, string | undefined]): boolean {
  return value !== '' && (secretName.test(name) || urlWithPassword.test(value));
}

function parse(text: string, subject: string): Environment {
  const environment: Record<string, string> = {};
  // Some editors begin a file with a byte-order mark.
  for (const [index, line] of text
    .replace(/^\uFEFF/, '')
    .split('\n')
    .entries()) {
    const trimmed = line.trim();
    if (trimmed === '' || /^[#;]/.test(trimmed)) continue;
    const [, name, value = ''] = linePattern.exec(trimmed) ?? [];
    if (name === undefined) {
      throw new ConfigurationError([`${subject}, line ${index + 1}, is not NAME=value: correct it.`]);
    }
    environment[name] = unquote(value);
  }
  return environment;
}

/** Quotes around the whole value are removed; within double quotes a backslash escapes. `#` is part of a value. */
function unquote(value: string): string {
  const [, double, single] = /^(?:"((?:[^"\\]|\\.)*)"|'([^']*)')$/.exec(value) ?? [];
  return double?.replace(/\\(["\\$`])/g, '$1') ?? single ?? value;
}
