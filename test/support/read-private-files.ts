import { readPrivateFile } from '@waxwing/service/config';

/** A program that reads each file named on its command line as a secret. Prints each file's content or error. */
const results = process.argv.slice(2).map(async (path) => {
  try {
    return await readPrivateFile(path, 'a key');
  } catch (error) {
    return (error as Error).message;
  }
});
process.stdout.write(JSON.stringify(await Promise.all(results)));
