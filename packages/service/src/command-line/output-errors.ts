import { fileTrouble } from '../config/file-trouble.js';

/**
 * Handles errors of standard output. Ignores EPIPE, which occurs when a reader such as `head` exits. Reports any other
 * error in one sentence, and sets the exit status to 1.
 */
export function watchOutput(name: string): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') return;
    process.stderr.write(`${name}: The result cannot be written: ${fileTrouble(error)}.\n`);
    // At exit, because the command sets its own status earlier.
    process.once('exit', () => {
      process.exitCode = 1;
    });
  });
  // An error of standard error cannot be reported.
  process.stderr.on('error', () => undefined);
}
