import { type TokenKind, tokenKinds } from '@waxwing/protocol';
import type { Log } from '@waxwing/service/logging';
import type { Metrics } from '@waxwing/service/metrics';
import { sql } from 'kysely';
import type { RelayDatabase } from '../tables.js';
import { totalOf } from './total-of-devices.js';

/** Protocol generations; `plaintext` is the generation without encryption. */
const generations = ['plaintext', 'v1', 'v2'] as const;
type Generation = (typeof generations)[number];

/** Valid devices by protocol generation and vendor. */
export type DeviceCounts = Record<Generation, Record<TokenKind, number>>;

const intervalMilliseconds = 15 * 60_000;
const rowsPerPage = 5000;

/** SQL expression for the generation of a `relay_devices` row. */
export const generationOfDevice = sql<Generation>`case when push_account_id like 'token:%' then 'v2'
  when push_account_id like 'user:%' then 'plaintext' else 'v1' end`;

export function noDevices(): DeviceCounts {
  const none = { fcm: 0, apns: 0, webpush: 0 };
  return { plaintext: { ...none }, v1: { ...none }, v2: { ...none } };
}

/** Counts all devices page by page: counting a large table in one query would block other work on SQLite. */
async function countDevices({ db }: Pick<RelayDatabase, 'db'>, signal: AbortSignal): Promise<DeviceCounts> {
  const counts = noDevices();
  for (let after = 0; !signal.aborted; ) {
    const page = sql<{ id: number }>`(select id, token_kind, push_account_id, expired_at from relay_devices
      where id > ${after} order by id limit ${rowsPerPage}) as page`;
    const { rows } = await sql<{
      kind: TokenKind;
      generation: Generation;
      living: number;
      last: number;
    }>`
      select token_kind as kind, ${generationOfDevice} as generation, max(id) as last,
        sum(case when expired_at is null then 1 else 0 end) as living
      from ${page} group by token_kind, ${generationOfDevice}`.execute(db);
    if (rows.length === 0) break;
    for (const { kind, generation, living } of rows) {
      // A later version may have stored devices of other kinds.
      if (Object.hasOwn(counts[generation], kind)) counts[generation][kind] += Number(living);
    }
    after = Math.max(...rows.map(({ last }) => Number(last)));
  }
  return counts;
}

/** Exports the number of devices as a metric. Counts every 15 minutes. */
export class DeviceGauge {
  readonly #database: RelayDatabase;
  readonly #log: Log;
  readonly #gauge;
  readonly #closing = new AbortController();
  #timer: NodeJS.Timeout | undefined;
  #counting: Promise<void> | undefined;
  #total: number | undefined;

  constructor({ database, log, metrics }: { database: RelayDatabase; log: Log; metrics: Metrics }) {
    this.#database = database;
    this.#log = log;
    this.#gauge = metrics.gauge('waxwing_relay_devices', 'Devices that can be notified', [
      'generation',
      'vendor',
    ]);
  }

  /** Number of devices with valid tokens at the last count; `undefined` until the first count is complete. */
  get total(): number | undefined {
    return this.#total;
  }

  /** Starts the first count without waiting for it. */
  start(): void {
    void this.count();
    this.#timer = setInterval(() => void this.count(), intervalMilliseconds).unref();
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    this.#closing.abort();
    await this.#counting;
  }

  /** Counts devices. Single-flight; never rejects: the metric keeps its value if the database does not answer. */
  count(): Promise<void> {
    this.#counting ??= this.#count().finally(() => {
      this.#counting = undefined;
    });
    return this.#counting;
  }

  async #count(): Promise<void> {
    try {
      const counts = await countDevices(this.#database, this.#closing.signal);
      if (this.#closing.signal.aborted) return;
      for (const generation of generations) {
        for (const vendor of tokenKinds) {
          this.#gauge.set({ generation, vendor }, counts[generation][vendor]);
        }
      }
      this.#total = totalOf(counts);
    } catch (err) {
      this.#log.warn({ err }, 'the devices could not be counted; their metric keeps its last value');
    }
  }
}
