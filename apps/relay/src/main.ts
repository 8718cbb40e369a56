import { processTerminal } from '@waxwing/service/command-line';
import { runRelayCommand } from './command-line.js';

process.exitCode = await runRelayCommand(process.argv.slice(2), processTerminal(process.env));
