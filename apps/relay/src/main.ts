import { processTerminal, watchOutput } from '@waxwing/service/command-line';
import { runRelayCommand } from './command-line.js';

watchOutput('waxwing-relay');
process.exitCode = await runRelayCommand(process.argv.slice(2), processTerminal(process.env));
