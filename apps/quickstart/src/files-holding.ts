import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';

/**
 * Which of the files hold the secret. Another process reads them: were a database's file opened and closed in the process
 * that serves it, all locks of this process on it would end (https://www.sqlite.org/howtocorrupt.html, 2.2), and the
 * next program that closes the database would remove the log with what was committed since.
 * @throws when that process fails.
 */
export async function filesHolding(secret: string, files: readonly string[]): Promise<string[]> {
  const program = fileURLToPath(new URL('find-in-files.js', import.meta.url));
  const child = spawn(process.execPath, [program], { stdio: ['pipe', 'pipe', 'inherit'] });
  const ended = once(child, 'close');
  // Not on the command line, which every user of the machine can read.
  child.stdin.end(JSON.stringify({ secret, files }));
  const printed = await text(child.stdout);
  const [status] = await ended;
  if (status !== 0)
    throw new Error(`the search for what must not be in ${files.join(', ')} ended with ${status}`);
  return JSON.parse(printed) as string[];
}
