import { fileTrouble } from '../config/file-trouble.js';

/**
 * Handles errors on standard output. Ignores EPIPE, which occurs when a reader such as `head` exits early. Reports any
 * other error in one sentence and sets the exit status to 1.
 */
export function watchOutput(name: string): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') return;
    process.stderr.write(`${name}: The result cannot be written: ${fileTrouble(error)}.\n`);
    // Set at exit, so that it is not overwritten by the command's own status.
    process.once('exit', () => {
      process.exitCode = 1;
    });
  });
  // An error on standard error itself cannot be reported anywhere, and must not end the process.
  process.stderr.on('error', () => undefined);
}
