import { createInterface } from 'node:readline/promises';
import type { Terminal } from './command-line.js';

/** The terminal that this process was started from; it can be asked only where a person sits before it. */
export function processTerminal(): Terminal {
  const isPerson = process.stdin.isTTY === true && process.stderr.isTTY === true;
  return {
    print: (text) => void process.stdout.write(text),
    printError: (text) => void process.stderr.write(text),
    confirm: isPerson ? confirm : undefined,
  };
}

async function confirm(question: string): Promise<boolean> {
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return /^y(es)?$/i.test((await lines.question(`${question} [y/N] `)).trim());
  } finally {
    lines.close();
  }
}
