import { DatabaseUnavailableError } from '../database-unavailable-error.js';
import { describeConnectionLimit } from './connection-limit.js';

// SQLSTATE codes and classes (https://www.postgresql.org/docs/current/errcodes-appendix.html) of transient errors.
const unavailableClasses = ['08', '53', '57', '58'];
const unavailableStates = ['25006', '55P03'];
const noConnectionState = '53300';
const deadlockState = '40P01';
const conflictStates = ['40001', deadlockState];
const lostStatementStates = ['26000'];
// Name of the server routine that reports a changed result type. The error's SQLSTATE, 0A000, is not specific, because
// it covers all unsupported features.
const changedAnswerRoutine = 'RevalidateCachedQuery';
const brokenMessages =
  /connection terminated|connection error|client was closed|timeout exceeded when trying to connect|query read timeout|connection timeout|pool after calling end/i;

interface ConnectError extends NodeJS.ErrnoException {
  readonly address?: string;
  readonly port?: number;
  readonly hostname?: string;
}

/**
 * Whether a transaction can be retried: it conflicted with a concurrent transaction, or its connection lost a prepared
 * statement.
 */
export function isPostgresConflict(error: unknown): boolean {
  return conflictStates.includes(codeOf(error)) || isKeptStatementLost(error);
}

/** Whether PostgreSQL canceled a statement to end a deadlock. */
export function isDeadlock(error: unknown): boolean {
  return codeOf(error) === deadlockState;
}

/**
 * Whether a connection lost a prepared statement (for instance by `deallocate all`), or the statement's result type
 * changed with the tables. A retry on another connection prepares the statement again.
 */
export function isKeptStatementLost(error: unknown): boolean {
  const { routine } = error as { routine?: unknown };
  return lostStatementStates.includes(codeOf(error)) || routine === changedAnswerRoutine;
}

/** Converts a transient error to a DatabaseUnavailableError. Returns other errors unchanged. */
export function translatePostgresError(error: unknown): unknown {
  if (!isUnavailable(error)) return error;
  return new DatabaseUnavailableError(`The database does not answer: ${messageOf(error)}.`, { cause: error });
}

/** Returns a readable message. If a host name has several addresses, connecting fails with one error per address. */
function messageOf(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) {
    return error.errors.map(messageOf).join('; ');
  }
  const { code, address, port, hostname, message } = error as ConnectError;
  if (code === 'ECONNREFUSED' && port !== undefined) return `nothing listens at ${address}, port ${port}`;
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return `the name ${hostname} cannot be resolved`;
  return code === noConnectionState ? describeConnectionLimit(message) : message;
}

function isUnavailable(error: unknown): boolean {
  const code = codeOf(error);
  // SQLSTATEs have five characters; system errors have names such as ECONNREFUSED, EPIPE or ENOTFOUND.
  if (/^E[A-Z_]{4,}$/.test(code)) return true;
  if (unavailableStates.includes(code) || unavailableClasses.includes(code.slice(0, 2))) return true;
  return code === '' && brokenMessages.test((error as Error).message);
}

function codeOf(error: unknown): string {
  const { code } = error as { code?: unknown };
  return typeof code === 'string' ? code : '';
}
