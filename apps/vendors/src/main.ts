import { readFlags, startFromFlags } from './command-line.js';

try {
  const vendors = await startFromFlags(readFlags(process.argv.slice(2)));
  const stop = () => {
    process.off('SIGINT', stop).off('SIGTERM', stop);
    void vendors.close();
  };
  process.on('SIGINT', stop).on('SIGTERM', stop);
} catch (error) {
  process.stderr.write(`waxwing-vendors: ${(error as Error).message}\n`);
  process.exitCode = 1;
}
