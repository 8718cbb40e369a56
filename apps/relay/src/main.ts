import { runCommandLine } from './command-line.js';
import { processTerminal } from './terminal.js';

process.exitCode = await runCommandLine(process.argv.slice(2), processTerminal(process.env));
