import { watchOutput } from '@waxwing/service/command-line';
import { describeBootError, runProcess } from '@waxwing/service/lifecycle';
import { readQuickstartOptions } from './quickstart-options.js';

watchOutput('waxwing-quickstart');
const options = readQuickstartOptions(process.argv);
// Loaded lazily, so that `--help` stays fast.
const { startQuickstart } = await import('./start-quickstart.js');
if (options.once) {
  try {
    const quickstart = await startQuickstart(options);
    await quickstart.close();
  } catch (error) {
    process.stderr.write(`quickstart: ${describeBootError(error)}\n`);
    process.exitCode = 1;
  }
} else {
  const { createLogger } = await import('@waxwing/service/logging');
  const log = createLogger('quickstart', 'error');
  await runProcess({ name: 'quickstart', log, start: () => startQuickstart(options) });
}
