import { PassThrough, type Readable } from 'node:stream';
import { ProtocolError } from '@waxwing/protocol';
import { type Log, TroubleLog } from '../logging/index.js';
import type { AdminSession, AdminSessions } from './admin-sessions.js';

export interface EventStreamsOptions {
  readonly sessions: Pick<AdminSessions, 'check'>;
  readonly log: Pick<Log, 'info' | 'warn'>;
  /** Reads the data of the next event. */
  read(): Promise<unknown>;
}

const maximumStreams = 8;
const intervalMilliseconds = 5000;
const lastReadMilliseconds = 1000;

interface OpenStream {
  readonly session: AdminSession;
  readonly output: PassThrough;
}

/**
 * The open streams of server-sent events, at most eight. Every five seconds, all streams get the same event. Reads
 * nothing while no stream is open. A stream ends when its session ends.
 */
export class EventStreams {
  readonly #options: EventStreamsOptions;
  readonly #open = new Set<OpenStream>();
  #timer: NodeJS.Timeout | undefined;
  #sending: Promise<void> | undefined;
  readonly #troubleLog = new TroubleLog();

  constructor(options: EventStreamsOptions) {
    this.#options = options;
  }

  /**
   * Opens a stream and sends its first event immediately. The stream ends when `signal` is aborted.
   * @throws ProtocolError SERVICE_UNAVAILABLE if eight streams are already open
   */
  open(session: AdminSession, signal: AbortSignal): Readable {
    if (this.#open.size >= maximumStreams) {
      const message = `The dashboard is open in ${maximumStreams} windows already: close one of them`;
      throw new ProtocolError('SERVICE_UNAVAILABLE', { message, retryAfterSeconds: 30 });
    }
    const output = new PassThrough();
    const stream = { session, output };
    this.#open.add(stream);
    output.once('close', () => this.#forget(stream));
    const end = () => endStream(output);
    for (const ending of [signal, session.ended]) {
      if (ending.aborted) end();
      else ending.addEventListener('abort', end, { once: true });
    }
    output.once('close', () => {
      for (const ending of [signal, session.ended]) ending.removeEventListener('abort', end);
    });
    this.#timer ??= setInterval(() => void this.send(), intervalMilliseconds).unref();
    void this.send();
    return output;
  }

  /** Sends an event to every stream. Single-flight. Never rejects. */
  send(): Promise<void> {
    this.#sending ??= this.#send().finally(() => {
      this.#sending = undefined;
    });
    return this.#sending;
  }

  async #send(): Promise<void> {
    const { log, read, sessions } = this.#options;
    try {
      for (const { session } of this.#open) await sessions.check(session.hash);
      const text = `event: overview\ndata: ${JSON.stringify(await read())}\n\n`;
      for (const { output } of this.#open) {
        // Backpressure: a client that is not reading skips this event.
        if (!output.writableEnded && !output.writableNeedDrain) output.write(text);
      }
      this.#troubleLog.end(() => log.info('the overview can be read again'));
    } catch (err) {
      this.#troubleLog.begin(String(err), () =>
        log.warn({ err }, 'the overview could not be read: open dashboards keep their last figures'),
      );
    }
  }

  #forget(stream: OpenStream): void {
    this.#open.delete(stream);
    if (this.#open.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}

/**
 * Ends a stream within a second. Without the time limit, a client that does not read would keep the stream open,
 * because `finish` never fires.
 */
function endStream(output: PassThrough): void {
  if (output.writableNeedDrain) {
    output.destroy();
    return;
  }
  const timer = setTimeout(() => output.destroy(), lastReadMilliseconds).unref();
  output.once('close', () => clearTimeout(timer));
  output.end(() => output.destroy());
}
