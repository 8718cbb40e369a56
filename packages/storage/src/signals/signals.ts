import type { AnyTransaction } from '../transaction.js';

/**
 * Called with the payload of a signal, or with `undefined` when signals may have been missed (the connection to the
 * database was lost for a while): look for yourself then.
 */
export type SignalListener = (payload: string | undefined) => void;

/**
 * Wakes whoever waits for a change, in every process on the same database. A signal is a hint: it is sent once, to
 * those who listen at that moment. On SQLite it reaches only this process, which is the only one that serves.
 */
export interface Signals {
  /**
   * Sends `payload` (at most 7,000 bytes of UTF-8) to all who listen to `channel`, once the transaction is committed.
   * @throws RangeError when the payload is longer.
   */
  notify(transaction: AnyTransaction, channel: string, payload: string): Promise<void>;
  /** Resolves once `listener` hears all further signals; the answer ends that. */
  listen(channel: string, listener: SignalListener): Promise<() => void>;
}

// PostgreSQL carries at most 7,999 bytes in a notification; the channel's name travels with the payload.
export const maximumSignalBytes = 7000;

/** Refuses on every backend what one of them could not carry. */
export function assertSignalFits(payload: string): void {
  const bytes = Buffer.byteLength(payload);
  if (bytes > maximumSignalBytes) {
    throw new RangeError(
      `A signal's payload is ${bytes} bytes long, and at most ${maximumSignalBytes} are carried: send an id instead.`,
    );
  }
}
