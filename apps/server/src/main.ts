import { runCommandLine } from './command-line.js';
import { processTerminal } from './process-terminal.js';

const code = await runCommandLine(process.argv.slice(2), process.env, processTerminal());
if (code !== 0) process.exitCode = code;
