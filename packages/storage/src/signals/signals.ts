import type { AnyTransaction } from '../transaction.js';

/**
 * Called with the payload of a signal, or with `undefined` when signals may have been missed (the connection to the
 * database was lost for a while): look for yourself then.
 */
export type SignalListener = (payload: string | undefined) => void;

/**
 * Wakes whoever waits for a change, in every process on the same database. A signal is a hint: it is sent once, to those
 * who listen at that moment, and a crash right after the commit loses it. On SQLite it reaches only this process, which
 * is the only one that serves.
 */
export interface Signals {
  /**
   * Sends `payload` (at most 7,000 bytes of UTF-8, without NUL) to all who listen to `channel` (letters, digits, `_`,
   * `-`, `.` and `/`), once the transaction is committed. The same signal sent twice at once may arrive once.
   * @throws RangeError when it cannot be carried.
   */
  notify(transaction: AnyTransaction, channel: string, payload: string): Promise<void>;
  /** Resolves once `listener` hears all further signals; the answer ends that. */
  listen(channel: string, listener: SignalListener): Promise<() => void>;
}

// PostgreSQL carries at most 7,999 bytes in a notification; the channel's name travels with the payload.
const maximumSignalBytes = 7000;

/** Refuses on every backend what one of them could not carry. */
export function assertSignalFits(channel: string, payload: string): void {
  if (!/^[\w./-]{1,200}$/.test(channel)) {
    throw new RangeError(`The channel "${channel}" cannot be signalled: use letters, digits, _, -, . and /.`);
  }
  if (payload.includes('\0')) {
    throw new RangeError('A signal with a NUL character in its payload cannot be carried: encode it.');
  }
  const bytes = Buffer.byteLength(payload);
  if (bytes > maximumSignalBytes) {
    throw new RangeError(
      `A signal's payload is ${bytes} bytes long, and at most ${maximumSignalBytes} are carried: send an id instead.`,
    );
  }
}
