import { describeConnectTrouble } from '@waxwing/service/lifecycle';
import { type Log, TroubleLog } from '@waxwing/service/logging';

/** Logs when a vendor becomes unreachable, with the cause, and when the vendor is reachable again. Logs each once. */
export class ReachLog {
  readonly #log: Log;
  readonly #url: string;
  readonly #authoritiesSetting: string;
  readonly #troubleLog = new TroubleLog();

  /** @param authoritiesSetting name of the setting for additional certificate authorities. */
  constructor(log: Log, url: string, authoritiesSetting: string) {
    this.#log = log;
    this.#url = url;
    this.#authoritiesSetting = authoritiesSetting;
  }

  /** Records a failure. `error` is the cause; `undefined` means a timeout. */
  failed(error: unknown): void {
    const { code, message } = (error ?? { message: 'it does not answer' }) as NodeJS.ErrnoException;
    const why =
      describeConnectTrouble(error, this.#authoritiesSetting) ?? (message || code || String(error)).trim();
    this.#troubleLog.begin('unreachable', () => {
      this.#log.error(
        { err: error },
        `${this.#url} cannot be reached: ${why}; notifications for it are stored and retried`,
      );
    });
  }

  worked(): void {
    this.#troubleLog.end(() => this.#log.info(`${this.#url} can be reached again`));
  }
}
