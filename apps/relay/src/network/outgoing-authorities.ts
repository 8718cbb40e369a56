import { rootCertificates } from 'node:tls';
import { readAuthorities } from '@waxwing/service/config';

/** Name of the setting for certificate authorities, for messages about untrusted certificates. */
export const authoritiesSetting = 'RELAY_CA_FILE';

/** Certificate authorities that the relay trusts for its connections to vendors, the proxy, and servers' hosts. */
export class OutgoingAuthorities {
  readonly #file: string | undefined;
  #trusted: readonly string[] | undefined;

  private constructor(file: string | undefined) {
    this.#file = file;
  }

  /** @throws ConfigurationError if the file cannot be read or contains no certificate. */
  static async open(file: string | undefined): Promise<OutgoingAuthorities> {
    const authorities = new OutgoingAuthorities(file);
    await authorities.load();
    return authorities;
  }

  /**
   * PEM of Node's bundled authorities and the file's authorities. `undefined` without a file, so that Node's default
   * applies.
   */
  get trusted(): string[] | undefined {
    return this.#trusted && [...this.#trusted];
  }

  /**
   * Reloads the file for new connections. @throws the errors of `open`; the previous authorities then stay trusted.
   */
  async load(): Promise<void> {
    if (this.#file === undefined) return;
    this.#trusted = [...rootCertificates, await readAuthorities(this.#file, authoritiesSetting)];
  }
}
