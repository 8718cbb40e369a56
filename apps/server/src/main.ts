import { processTerminal } from '@waxwing/service/command-line';
import { runCommandLine } from './command-line.js';

const code = await runCommandLine(process.argv.slice(2), processTerminal(process.env));
if (code !== 0) process.exitCode = code;
