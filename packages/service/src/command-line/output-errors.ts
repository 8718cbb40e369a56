import { fileTrouble } from '../config/file-trouble.js';

/**
 * Has this process outlive a reader of its output that ends, such as `head`, and say in one sentence that its result cannot
 * be written; the exit status is 1 then.
 */
export function watchOutput(name: string): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') return;
    process.stderr.write(`${name}: The result cannot be written: ${fileTrouble(error)}.\n`);
    // Whatever the command ends with.
    process.once('exit', () => {
      process.exitCode = 1;
    });
  });
  // There is nobody left to tell.
  process.stderr.on('error', () => undefined);
}
