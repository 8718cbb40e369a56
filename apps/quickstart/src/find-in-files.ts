import { readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';

/**
 * Program of a child process. Reads `{ secret, files }` as JSON from standard input, and prints a JSON list of the files
 * that contain the secret. Treats a missing file as empty.
 */
const { secret, files } = JSON.parse(await text(process.stdin)) as { secret: string; files: string[] };
const found: string[] = [];
for (const file of files) {
  const bytes = await readFile(file).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return Buffer.alloc(0);
    throw error;
  });
  if (bytes.includes(secret)) found.push(file);
}
process.stdout.write(JSON.stringify(found));
