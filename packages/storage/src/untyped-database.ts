import type { Kysely } from 'kysely';

/** A database or transaction with unknown tables: raw SQL and introspection only. */
export type UntypedDatabase = Pick<Kysely<unknown>, 'getExecutor' | 'introspection'>;
