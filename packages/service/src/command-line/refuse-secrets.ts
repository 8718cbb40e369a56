import { existsSync } from 'node:fs';
import type { Command } from 'commander';
import {
  holdsPassword,
  holdsSecret,
  isPrintablePath,
  isSecretText,
  mayBeSecret,
} from '../config/misplaced-secret.js';
import { CommandError } from './command-error.js';

/** The value of an option or argument, with its expected kind, such as `path`. */
interface Given {
  /** The name as shown in the help, such as `--to` or `<file>`. */
  readonly name: string;
  readonly kind: string;
  readonly value: string;
}

/** The kind of value that is either `database` or `file:PATH`. */
const placeKind = 'place';
const pathKinds: readonly string[] = ['file', 'path', placeKind];
const textKinds: readonly string[] = ['name', 'text', 'value'];
/** Matches a name with an extension, such as `relay.ndjson`. */
const fileName = /^[\w-]+\.[a-z]{2,8}$/i;
/** Kinds of values that are paths of files or folders to create, which must not exist yet. */
const outputKinds: readonly string[] = ['dir', 'new-file'];
/** The kind of value that is a secret. */
const codeKind = 'code';

/**
 * Rejects secrets that were passed as another kind of value, so that no message reveals them.
 * @throws CommandError
 */
export function refuseSecrets(command: Command): void {
  for (const { name, kind, value } of givenTo(command)) {
    if (pathKinds.includes(kind)) refuseAsPath({ name, kind, value });
    else if (looksSecret(kind, value)) {
      throw new CommandError(
        `The value of ${name} looks like a secret, so it is not shown and nothing was done: use a different value.`,
      );
    }
  }
}

function looksSecret(kind: string, value: string): boolean {
  if (textKinds.includes(kind)) return holdsSecret(value);
  return outputKinds.includes(kind) ? mayBeSecret(value) : isSecretText(value) || holdsPassword(value);
}

function refuseAsPath({ name, kind, value }: Given): void {
  const path = value.replace(/^file:/, '');
  const isFileName = fileName.test(path) && !mayBeSecret(path.replace(/\..*/s, ''));
  if (isFileName || isPrintablePath(path) || existsSync(path) || value === 'database') return;
  if (kind === placeKind) {
    throw new CommandError(
      `The value of ${name} is not a location, and is not shown, because it may be a secret: use database, or file:PATH.`,
    );
  }
  throw new CommandError(
    `The value of ${name} is not the path of a file. It is not shown, because it may be the secret itself: write the secret to a file of mode 0600, and give the path of that file; for a file in this folder, begin the path with ./.`,
  );
}

function givenTo(command: Command): Given[] {
  const options = command.options.flatMap((option) => {
    const [, kind = ''] = /[<[]([^>\]]+)/.exec(option.flags) ?? [];
    const { long, flags } = option;
    return { name: long ?? flags, kind, value: command.getOptionValue(option.attributeName()) as unknown };
  });
  const taken = command.registeredArguments.map((argument, index) => {
    const kind = argument.name();
    return { name: `<${kind}>`, kind, value: command.args[index] as unknown };
  });
  const parent = command.parent === null ? [] : givenTo(command.parent);
  const given = [...options, ...taken, ...parent].filter(({ kind }) => kind !== codeKind);
  return given.flatMap(({ value, ...rest }) =>
    [value].flat().flatMap((one) => (typeof one === 'string' ? { ...rest, value: one } : [])),
  );
}
