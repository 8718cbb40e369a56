import { rootCertificates } from 'node:tls';
import { readAuthorities } from '@waxwing/service/config';

/** Setting that messages about untrusted certificates name. */
export const authoritiesSetting = 'RELAY_CA_FILE';

/** Certificate authorities that the relay trusts when it connects: to vendors, their proxy, and hosts of servers. */
export class OutgoingAuthorities {
  readonly #file: string | undefined;
  #trusted: readonly string[] | undefined;

  private constructor(file: string | undefined) {
    this.#file = file;
  }

  /** @throws ConfigurationError if the file cannot be read or holds no certificate. */
  static async open(file: string | undefined): Promise<OutgoingAuthorities> {
    const authorities = new OutgoingAuthorities(file);
    await authorities.load();
    return authorities;
  }

  /** PEM of Node's bundled authorities and of those in the file. `undefined` without a file: Node's default applies. */
  get trusted(): string[] | undefined {
    return this.#trusted && [...this.#trusted];
  }

  /**
   * Reloads the file for new connections. @throws ConfigurationError as `open` does; the previous authorities stay
   * trusted.
   */
  async load(): Promise<void> {
    if (this.#file === undefined) return;
    this.#trusted = [...rootCertificates, await readAuthorities(this.#file, authoritiesSetting)];
  }
}
