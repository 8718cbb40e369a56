import { ProtocolError } from '@waxwing/protocol';
import { generateCredential, hashCredential, type Secret } from '../config/index.js';
import type { Clock } from '../lifecycle/index.js';
import type { Log } from '../logging/index.js';
import type { AdminToken } from './admin-token.js';

/** A dashboard session. */
export interface AdminSession {
  /** SHA-256 of the session id. */
  readonly hash: string;
  /** Unix milliseconds. */
  readonly expiresAt: number;
  /** Aborted when the session ends. */
  readonly ended: AbortSignal;
}

export const sessionMilliseconds = 8 * 60 * 60 * 1000;
const maximumSessions = 16;

interface StoredSession extends AdminSession {
  end(): void;
}

interface Options {
  readonly token: AdminToken;
  readonly clock: Clock;
  readonly log: Pick<Log, 'warn' | 'info'>;
}

/**
 * The dashboard's sessions, in memory: at most 16, each for 8 hours. A new session beyond the maximum evicts the oldest
 * one. All sessions end if the token file changes or becomes unusable.
 */
export class AdminSessions {
  readonly #options: Options;
  readonly #sessions = new Map<string, StoredSession>();
  #isTokenLost = false;

  constructor(options: Options) {
    this.#options = options;
  }

  /**
   * Starts a session if the token is correct. Resolves to the session id, which is 256 random bits in hexadecimal, or
   * to `undefined` if the token is wrong.
   * @throws ProtocolError SERVICE_UNAVAILABLE if the token file cannot be used
   */
  async start(token: string): Promise<Secret<string> | undefined> {
    if (!(await this.#followToken())) {
      const message = 'The file with the admin token cannot be used: see the log of this program';
      throw new ProtocolError('SERVICE_UNAVAILABLE', { message });
    }
    if (!this.#options.token.matches(token)) return undefined;
    const id = generateCredential();
    const hash = hashCredential(id.reveal());
    const ending = new AbortController();
    const expiresAt = this.#options.clock() + sessionMilliseconds;
    const end = () => {
      this.#sessions.delete(hash);
      ending.abort();
    };
    const [oldest] = this.#sessions.values();
    if (this.#sessions.size >= maximumSessions) oldest?.end();
    this.#sessions.set(hash, { hash, expiresAt, ended: ending.signal, end });
    return id;
  }

  /** Resolves to the session with this id, or to `undefined` if it does not exist or has ended. */
  async find(id: string): Promise<AdminSession | undefined> {
    return this.check(hashCredential(id));
  }

  /** Resolves to the session with this hash if it has not ended. Reads the token file first if the session exists. */
  async check(hash: string): Promise<AdminSession | undefined> {
    if (this.#sessions.has(hash)) await this.#followToken();
    const session = this.#sessions.get(hash);
    if (session === undefined || this.#options.clock() < session.expiresAt) return session;
    session.end();
    return undefined;
  }

  end(hash: string): void {
    this.#sessions.get(hash)?.end();
  }

  endAll(): void {
    for (const session of [...this.#sessions.values()]) session.end();
  }

  /** Ends all sessions if the token file has changed. Resolves to whether the file is usable. */
  async #followToken(): Promise<boolean> {
    const { log, token } = this.#options;
    try {
      const isUnchanged = await token.isUnchanged();
      this.#isTokenLost = false;
      if (isUnchanged) return true;
      log.info('the admin token has changed: all sessions of the dashboard end');
      this.endAll();
      return true;
    } catch (error) {
      // Logged only once, because each sign-in attempt reads the file.
      if (!this.#isTokenLost) {
        log.warn({ err: error }, 'the admin token cannot be read: all sessions of the dashboard end');
      }
      this.#isTokenLost = true;
      this.endAll();
      return false;
    }
  }
}
