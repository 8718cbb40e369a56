import type { DatabaseWithJobs } from '@waxwing/jobs';
import { ConfigurationError } from '@waxwing/service/config';
import { type Log, TroubleLog } from '@waxwing/service/logging';
import type { AdminNames } from '../admin-names.js';
import { relayAccountChannel } from '../relay-account/account-store.js';
import type { RelayAccount } from '../server-push-options.js';
import type { ServerPushTables } from '../tables.js';
import type { AccountSettings } from './account-settings.js';
import { findRelayAccount } from './find-relay-account.js';

export interface RelayAccountWatchOptions {
  readonly settings: AccountSettings;
  readonly names: AdminNames;
  readonly database: Pick<DatabaseWithJobs<ServerPushTables>, 'db' | 'signals'>;
  readonly log: Log;
  readonly serverPush: { useRelay(account: RelayAccount): Promise<void> };
}

/** Interval of additional reads. A signal can be lost if a command ends right after its commit. */
const readEveryMilliseconds = 10_000;

/** Applies each change of the relay account in this process, without a restart. */
export class RelayAccountWatch {
  readonly #options: RelayAccountWatchOptions;
  readonly #troubleLog = new TroubleLog();
  #timer: NodeJS.Timeout | undefined;
  #stop: (() => void) | undefined;
  #last: Promise<void> = Promise.resolve();

  private constructor(options: RelayAccountWatchOptions) {
    this.#options = options;
  }

  /** Reads the account and uses it from then on. @throws ConfigurationError if the account cannot be used. */
  static async open(options: RelayAccountWatchOptions): Promise<RelayAccountWatch> {
    const watch = new RelayAccountWatch(options);
    await watch.read();
    // There is nothing to watch, because an account in the settings takes precedence and changes only on SIGHUP.
    if (options.settings.relay.kind === 'configured') return watch;
    watch.#stop = await options.database.signals.listen(relayAccountChannel, () => void watch.#readQuietly());
    watch.#timer = setInterval(() => void watch.#readQuietly(), readEveryMilliseconds).unref();
    return watch;
  }

  /** Reads the account now. @throws ConfigurationError if it cannot be used; the previous account stays in use. */
  read(): Promise<void> {
    const { settings, names, database, serverPush } = this.#options;
    // Reads are serialized, because an earlier, slower read must not restore an old account.
    const reading = this.#last.then(async () => {
      const { account } = await findRelayAccount(database, settings, names);
      await serverPush.useRelay(account);
    });
    this.#last = reading.catch(() => undefined);
    return reading;
  }

  close(): void {
    clearInterval(this.#timer);
    this.#stop?.();
  }

  async #readQuietly(): Promise<void> {
    const { log } = this.#options;
    try {
      await this.read();
      this.#troubleLog.end(() => log.info('the relay account can be read again'));
    } catch (err) {
      const detail = err instanceof ConfigurationError ? { problems: err.problems } : { err };
      this.#troubleLog.begin(String(err), () =>
        log.error(detail, 'the relay account cannot be read: the previous one stays in use'),
      );
    }
  }
}
