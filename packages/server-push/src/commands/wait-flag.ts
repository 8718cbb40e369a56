import { type Command, InvalidArgumentError } from 'commander';

/** The value of `--wait`. */
export interface WaitFlag {
  /** Seconds. */
  readonly wait: number;
}

export const defaultWaitSeconds = 10;

/** Adds the option `--wait`. */
export function withWait(command: Command): Command {
  return command.option(
    '--wait <seconds>',
    "how long to wait for the relay's answer",
    readSeconds,
    defaultWaitSeconds,
  );
}

function readSeconds(text: string): number {
  if (!/^\d{1,3}$/.test(text))
    throw new InvalidArgumentError('It must be a whole number of seconds, 0 to 999.');
  return Number(text);
}
