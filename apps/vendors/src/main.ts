import { describeVendors, readFlags, startFromFlags } from './command-line.js';

try {
  const flags = readFlags(process.argv.slice(2));
  const vendors = await startFromFlags(flags);
  const stop = () => {
    process.off('SIGINT', stop).off('SIGTERM', stop);
    void vendors.close();
  };
  process.on('SIGINT', stop).on('SIGTERM', stop);
  process.stdout.write(describeVendors(vendors, flags));
} catch (error) {
  process.stderr.write(`waxwing-vendors: ${(error as Error).message}\n`);
  process.exitCode = 1;
}
