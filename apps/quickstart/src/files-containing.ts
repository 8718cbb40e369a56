import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';

/**
 * Returns the files that contain the secret. Reads the files in a child process. If the process that serves a SQLite
 * file opened and closed that file, it would lose all its locks on the file (https://www.sqlite.org/howtocorrupt.html,
 * 2.2). The next program that closes the database would then delete the write-ahead log with recent commits.
 * @throws Error if the child process fails.
 */
export async function filesContaining(secret: string, files: readonly string[]): Promise<string[]> {
  const program = fileURLToPath(new URL('find-in-files.js', import.meta.url));
  const child = spawn(process.execPath, [program], { stdio: ['pipe', 'pipe', 'inherit'] });
  const ended = once(child, 'close');
  // Passes the secret on stdin, because every user on the machine can read command lines.
  child.stdin.end(JSON.stringify({ secret, files }));
  const printed = await text(child.stdout);
  const [status] = await ended;
  if (status !== 0) throw new Error(`the search for secrets in ${files.join(', ')} ended with ${status}`);
  return JSON.parse(printed) as string[];
}
