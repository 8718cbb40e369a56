import type { AnyTransaction, Database, WriteTransaction } from '@waxwing/storage';
import type { ActTables } from './act-table.js';

/** An operator's action for the audit log. Contains no secret. */
export interface Act {
  readonly actor: 'dashboard' | 'command line';
  /** The command, such as `servers suspend`. */
  readonly action: string;
  /** The target, such as a server's id. */
  readonly subject: string;
  readonly detail?: string;
  /** Unix milliseconds. */
  readonly at: number;
}

const maximumCharacters = 500;

/**
 * Adds an act to the audit log, in the caller's transaction. Truncates text to 500 characters, and replaces characters
 * that the database cannot store.
 */
export async function recordAct({ db }: AnyTransaction, act: Act): Promise<void> {
  const { at, actor, action, subject, detail = '' } = act;
  const texts = { subject: storable(subject), detail: storable(detail) };
  await db
    .withTables<Pick<ActTables, keyof ActTables>>()
    .insertInto('operator_acts')
    .values({ at, actor, action, ...texts })
    .execute();
}

function storable(text: string): string {
  // Duplicates a pattern of the job queue: importing that module would load the database and slow down `--help`.
  return text.slice(0, maximumCharacters).toWellFormed().replaceAll('\0', '\ufffd');
}

/** The part of a database that {@link recording} wraps. */
type Writes<Tables> = Pick<Database<Tables>, 'write'>;

/**
 * Wraps a database so that its next `write` also records the act, in the same transaction. Records nothing if that write
 * returns `false`, which means that it changed nothing. Use the result for one write only.
 */
export function recording<Tables, Recorded extends Writes<Tables>>(
  database: Recorded & Writes<Tables>,
  act: Act,
): Recorded {
  return { ...database, write: (work) => database.write(withAct(work, act)) } as Recorded;
}

function withAct<Tables, Result>(work: (transaction: WriteTransaction<Tables>) => Promise<Result>, act: Act) {
  return async (transaction: WriteTransaction<Tables>): Promise<Result> => {
    const result = await work(transaction);
    if (result !== false) await recordAct(transaction, act);
    return result;
  };
}
