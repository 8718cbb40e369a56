import { describeBootError, runProcess } from '@waxwing/service/lifecycle';
import { createLogger } from '@waxwing/service/logging';
import { readQuickstartOptions } from './quickstart-options.js';
import { startQuickstart } from './start-quickstart.js';

const options = readQuickstartOptions(process.argv);
if (options.once) {
  try {
    const quickstart = await startQuickstart(options);
    await quickstart.close();
  } catch (error) {
    process.stderr.write(`quickstart: ${describeBootError(error)}\n`);
    process.exitCode = 1;
  }
} else {
  const log = createLogger('quickstart', 'error');
  await runProcess({ name: 'quickstart', log, start: () => startQuickstart(options) });
}
