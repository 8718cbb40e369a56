import type { AnyTransaction } from '../transaction.js';

/**
 * Listener for the signals of a channel. Called with a signal's payload, or with `undefined` if signals may have been
 * missed (because the connection was lost, or a command sent some). The listener must then read the current state.
 */
export type SignalListener = (payload: string | undefined) => void;

/**
 * Wakes waiting code in all processes on the same database after a change. A signal is a hint that is delivered to
 * current listeners at most once: a crash right after the commit loses it. On SQLite, if a command sends a signal, the
 * listeners of the serving process are called with `undefined`.
 */
export interface Signals {
  /**
   * Sends `payload` (at most 7,000 bytes of UTF-8, without NUL) to all listeners of `channel` (1 to 200 letters,
   * digits, `_`, `-`, `.` and `/`) after the commit. Identical signals that are sent at the same time may be delivered
   * only once.
   *
   * @throws RangeError if the channel or payload is invalid
   */
  notify(transaction: AnyTransaction, channel: string, payload: string): Promise<void>;
  /**
   * Adds a listener. Resolves once the listener receives all later signals. Call the returned function to remove the
   * listener.
   */
  listen(channel: string, listener: SignalListener): Promise<() => void>;
}

// PostgreSQL limits a notification's payload to 7,999 bytes, which must also hold the signal's channel.
const maximumSignalBytes = 7000;

/**
 * Rejects a signal that one of the backends could not deliver, so that all backends behave alike.
 * @throws RangeError
 */
export function assertSignalFits(channel: string, payload: string): void {
  if (!/^[\w./-]{1,200}$/.test(channel)) {
    throw new RangeError(`The channel "${channel}" is not a valid name: use letters, digits, _, -, . and /.`);
  }
  if (payload.includes('\0')) {
    throw new RangeError('The payload of a signal cannot contain a NUL character: encode it.');
  }
  const bytes = Buffer.byteLength(payload);
  if (bytes > maximumSignalBytes) {
    throw new RangeError(
      `A signal's payload is ${bytes} bytes long, and at most ${maximumSignalBytes} are allowed: send an id instead.`,
    );
  }
}
