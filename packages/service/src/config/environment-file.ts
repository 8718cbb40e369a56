import { constants } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { ConfigurationError } from './configuration-error.js';
import { fileTrouble } from './file-trouble.js';
import { describeWrongKind } from './find-private-file.js';
import { holdsPassword } from './misplaced-secret.js';
import { type ParsedEnvironment, parseEnvironment } from './parse-environment.js';
import { readPrivateFile } from './private-file.js';

const maximumBytes = 64 * 1024;
// O_NONBLOCK: if the file was replaced with a named pipe, opening it must not wait for a writer.
const openFlags = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY;
const secretName = /(?:PASSWORD|PASSPHRASE|SECRET|TOKEN|_KEY)$/;

/**
 * Reads an environment file of at most 64 KiB as systemd's `EnvironmentFile=` does. If the file contains a secret, such
 * as a database URL with a password, it must be private as defined by {@link readPrivateFile}.
 * @throws ConfigurationError. If the file cannot be read, the error's cause is the operating system's error.
 */
export async function readEnvironmentFile(path: string): Promise<ParsedEnvironment> {
  const subject = `The environment file ${path}`;
  let text: string;
  try {
    text = await readStart(path, subject);
  } catch (cause) {
    if (cause instanceof ConfigurationError) throw cause;
    throw new ConfigurationError([`${subject} cannot be read: ${fileTrouble(cause)}.`], { cause });
  }
  if (Buffer.byteLength(text) > maximumBytes) {
    const problem = `is larger than ${maximumBytes / 1024} KiB: name a file with settings, one NAME=value per line.`;
    throw new ConfigurationError([`${subject} ${problem}`]);
  }
  const environment = parseEnvironment(text, subject);
  if (!Object.entries(environment.values).some(isSecret)) return environment;
  return parseEnvironment(await readPrivateFile(path, 'it contains a secret'), subject);
}

/**
 * Reads at most one byte more than is allowed. The path must refer to a regular file, or to `/dev/null`, which means no
 * settings.
 */
async function readStart(path: string, subject: string): Promise<string> {
  const wrongKind = describeWrongKind(await stat(path));
  if (wrongKind !== undefined && path !== '/dev/null')
    throw new ConfigurationError([`${subject} ${wrongKind}.`]);
  const file = await open(path, openFlags);
  try {
    const chunks: Buffer[] = [];
    const stream = file.createReadStream({ end: maximumBytes, autoClose: false });
    for await (const chunk of stream) chunks.push(chunk as Buffer);
    return Buffer.concat(chunks).toString('utf8');
  } finally {
    await file.close();
  }
}

function isSecret([name, value = '']: [string, string | undefined]): boolean {
  return value !== '' && (secretName.test(name) || holdsPassword(value));
}
