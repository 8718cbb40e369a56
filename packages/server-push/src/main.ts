import { processTerminal, watchOutput } from '@waxwing/service/command-line';
import { runPushCommand } from './command-line.js';

watchOutput('waxwing-server-push');
process.exitCode = await runPushCommand(process.argv.slice(2), processTerminal(process.env));
