import { processTerminal, watchOutput } from '@waxwing/service/command-line';
import { runServerCommand } from './command-line.js';

watchOutput('waxwing-server');
process.exitCode = await runServerCommand(process.argv.slice(2), processTerminal(process.env));
