import { InvalidArgumentError } from 'commander';

/** Reads a UUID argument of a command, in lower case. */
export function readUuid(text: string): string {
  if (!/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text)) {
    throw new InvalidArgumentError('It must be a UUID such as 9aa61d0b-8ce5-488d-8e9e-fedc346e6836.');
  }
  return text.toLowerCase();
}
