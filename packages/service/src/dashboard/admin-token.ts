import { timingSafeEqual } from 'node:crypto';
import { ConfigurationError, hashCredential, readPrivateFile } from '../config/index.js';

const minimumTokenCharacters = 24;

/** The admin token in its file. Only the SHA-256 of the token is kept in memory. */
export class AdminToken {
  readonly #path: string;
  #hash: string;

  private constructor(path: string, hash: string) {
    this.#path = path;
    this.#hash = hash;
  }

  /**
   * Reads the token. @throws ConfigurationError if others may read the file, or if the token is shorter than 24
   * characters.
   */
  static async open(path: string): Promise<AdminToken> {
    return new AdminToken(path, await readHash(path));
  }

  /**
   * Reads the file again. Resolves to whether its token is unchanged.
   * @throws ConfigurationError like {@link open}
   */
  async isUnchanged(): Promise<boolean> {
    const before = this.#hash;
    this.#hash = await readHash(this.#path);
    return this.#hash === before;
  }

  /** Compares a token in constant time. */
  matches(token: string): boolean {
    return timingSafeEqual(Buffer.from(hashCredential(token), 'hex'), Buffer.from(this.#hash, 'hex'));
  }
}

async function readHash(path: string): Promise<string> {
  const token = (await readPrivateFile(path, 'the admin token of the dashboard')).trim();
  if (token.length < minimumTokenCharacters) {
    throw new ConfigurationError([
      `The token in the file ${path} is too short: write at least ${minimumTokenCharacters} random characters to it, such as those of "openssl rand -hex 32".`,
    ]);
  }
  return hashCredential(token);
}
