import { processTerminal } from '@waxwing/service/command-line';
import { runCommandLine } from './command-line.js';

process.exitCode = await runCommandLine(process.argv.slice(2), processTerminal(process.env));
