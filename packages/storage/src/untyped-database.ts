import type { Kysely } from 'kysely';

/** A database or transaction with unknown tables. It supports only raw SQL and introspection. */
export type UntypedDatabase = Pick<Kysely<unknown>, 'getExecutor' | 'introspection'>;
