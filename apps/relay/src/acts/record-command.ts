import type { Terminal } from '@waxwing/service/command-line';
import type { RelayDatabase } from '../tables.js';
import { recording } from './record-act.js';

/** Wraps a database so that its next `write` also records a command's act; see {@link recording}. */
export function recordingCommand(
  database: RelayDatabase,
  { clock }: Pick<Terminal, 'clock'>,
  act: { readonly action: string; readonly subject: string; readonly detail?: string },
): RelayDatabase {
  return recording(database, { ...act, actor: 'command line', at: clock() });
}
