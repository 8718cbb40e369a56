import { processTerminal } from '@waxwing/service/command-line';
import { runServerCommand } from './command-line.js';

process.exitCode = await runServerCommand(process.argv.slice(2), processTerminal(process.env));
