import type { RelayDeviceId } from '@waxwing/protocol';
import type { ReadinessWarning } from '@waxwing/service/http';
import { type Log, TroubleLog } from '@waxwing/service/logging';
import type { Metrics } from '@waxwing/service/metrics';
import { LRUCache } from 'lru-cache';
import type { RelayDatabase } from '../../tables.js';
import { deviceColumns, hasReadableToken, toRelayDevice } from './relay-device.js';
import type { TokenVault, UnreadableToken } from './token-vault.js';

export interface UnreadableTokensOptions {
  readonly database: RelayDatabase;
  readonly tokenVault: TokenVault;
  readonly metrics: Metrics;
  readonly log: Log;
}

const maximumKnown = 1000;
const sampledAtEachEnd = 100;
const missingKeysNamed = 3;

/**
 * Tracks stored tokens that the key ring cannot decrypt. Deliveries and cleanup report such tokens, and a sample of the
 * oldest and newest devices is checked. The sample detects a ring that belongs to another database.
 */
export class UnreadableTokens {
  readonly #options: UnreadableTokensOptions;
  readonly #gauge;
  readonly #known = new LRUCache<RelayDeviceId, UnreadableToken>({ max: maximumKnown });
  readonly #troubleLog = new TroubleLog();
  readonly #databaseTroubleLog = new TroubleLog();

  constructor(options: UnreadableTokensOptions) {
    this.#options = options;
    this.#gauge = options.metrics.gauge(
      'waxwing_unreadable_tokens',
      'Stored tokens that the key ring cannot open, among the checked ones; at most 1000 are counted',
    );
    this.#gauge.set(0);
  }

  /**
   * Records an unreadable token. Logs only the first unreadable token, until all tokens are readable again. Ignores
   * tokens of an unknown kind, which the key ring can decrypt.
   */
  note(deviceId: RelayDeviceId, token: UnreadableToken): void {
    if (token.reason === 'UNKNOWN_TOKEN_KIND') return;
    this.#known.set(deviceId, token);
    this.#gauge.set(this.#known.size);
    this.#troubleLog.begin('unreadable', () => {
      this.#options.log.error(
        { device: deviceId, reason: token.reason, tokenKey: token.keyId },
        'the key ring cannot open a stored token: its device gets no notifications until the right ring is restored',
      );
    });
  }

  /**
   * Returns a sentence about the unreadable tokens, or `undefined` if no token is known to be unreadable. The sentence
   * is a warning if the ring has all token keys, because damaged tokens affect only their own devices. Reads a few
   * hundred rows by id, so the cost does not grow with the number of devices. Keeps the last known state while the
   * database is unavailable.
   */
  async describe(): Promise<string | ReadinessWarning | undefined> {
    try {
      await this.#lookAgain();
      this.#databaseTroubleLog.end(() => undefined);
    } catch (err) {
      // Logged only at info level, because the readiness check of the database logs failure and recovery.
      const say = () => this.#options.log.info({ err }, 'the stored tokens could not be checked');
      this.#databaseTroubleLog.begin('unavailable', say);
    }
    if (this.#known.size > 0) return describeKnown([...this.#known.values()]);
    this.#troubleLog.end(() => this.#options.log.info('the key ring opens the stored tokens again'));
    return undefined;
  }

  async #lookAgain(): Promise<void> {
    const { tokenVault } = this.#options;
    const before = [...this.#known.keys()];
    const unread = new Set(before);
    for (const row of await this.#look(before)) {
      const device = toRelayDevice(row, tokenVault);
      if (hasReadableToken(device)) continue;
      unread.delete(row.id);
      this.note(row.id, device.unreadable);
    }
    // Drop entries whose tokens are readable again or deleted.
    for (const id of unread) this.#known.delete(id);
    this.#gauge.set(this.#known.size);
  }

  async #look(known: readonly RelayDeviceId[]) {
    const devices = this.#options.database.db.selectFrom('relay_devices').select(deviceColumns);
    const oldest = await devices.orderBy('id').limit(sampledAtEachEnd).execute();
    const newest = await devices.orderBy('id', 'desc').limit(sampledAtEachEnd).execute();
    if (known.length === 0) return [...oldest, ...newest];
    return [...oldest, ...newest, ...(await devices.where('id', 'in', known).execute())];
  }
}

function describeKnown(known: readonly UnreadableToken[]): string | ReadinessWarning {
  const missing = new Set(known.flatMap(({ keyId }) => (keyId === undefined ? [] : [keyId])));
  const changed = known.filter(({ reason }) => reason === 'UNREADABLE_TOKEN').length;
  const causes = [
    ...(missing.size === 0
      ? []
      : [`the ring does not have their token keys ${[...missing].slice(0, missingKeysNamed).join(', ')}`]),
    ...(changed === 0 ? [] : [`${changed} were changed in the database or moved to another row`]),
  ];
  const count = known.length === maximumKnown ? `${maximumKnown} or more` : known.length;
  const found = `the key ring cannot open ${count} of the checked stored tokens (${causes.join('; ')})`;
  const removal =
    'remove their devices with waxwing-relay keys remove-unreadable, so that the phones register again';
  if (missing.size === 0) return { warning: `${found}: restore them from a backup, or ${removal}` };
  return `${found}: restore the ring that was in use when they were stored, or ${removal}`;
}
