import { createProgress, watchOutput } from '@waxwing/service/command-line';
import { hideSecrets } from '@waxwing/service/config';
import { describeVendors, readFlags, startFromFlags } from './command-line.js';

watchOutput('waxwing-vendors');
const say = (text: string) => void process.stderr.write(`${text}\n`);
const argv = process.argv.slice(2);
const progress = createProgress(process.stderr.isTTY ? say : () => undefined);
try {
  const flags = readFlags(argv);
  progress.begin('waxwing-vendors');
  const vendors = await startFromFlags(flags);
  const stop = () => {
    process.off('SIGINT', stop).off('SIGTERM', stop);
    void vendors.close();
  };
  process.on('SIGINT', stop).on('SIGTERM', stop);
  progress.end();
  process.stdout.write(describeVendors(vendors, flags));
} catch (error) {
  progress.end();
  say(`waxwing-vendors: ${hideSecrets((error as Error).message, argv)}`);
  process.exitCode = 1;
}
