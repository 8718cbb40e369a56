import type { Kysely } from 'kysely';

/** What can be done with a database, or in a transaction, whichever tables its types know: SQL, and asking what there is. */
export type UntypedDatabase = Pick<Kysely<unknown>, 'getExecutor' | 'introspection'>;
