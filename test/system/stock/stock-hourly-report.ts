import { randomBytes, randomUUID } from 'node:crypto';
import { askRelay, RelayFailure, type RelayRequestOptions } from './relay-requests.js';

/** Number of the server's rows in each list. Row ids start at 1. */
export interface Counts {
  readonly realmCounts: number;
  readonly installationCounts: number;
  readonly auditLogRows: number;
}

interface ReportOptions extends RelayRequestOptions {
  readonly realm: { readonly uuid: string; readonly url: string; readonly name: string };
  readonly clock: () => number;
}

const hourMilliseconds = 3_600_000;
const mostRows = 10_000;
const noCounts: Counts = { realmCounts: 0, installationCounts: 0, auditLogRows: 0 };

/** The hourly job of a stock server, which also determines whether push is on for the realm. */
export class HourlyReport {
  isPushOn = true;
  expectedEnd: number | null = null;
  /** Time at which the relay last accepted a notification from the realm, in Unix milliseconds. */
  lastSuccessAt: number | undefined;
  /** Number of rows sent in all reports together. */
  rowsSent = 0;
  readonly #options: ReportOptions;
  readonly #log: string[];
  readonly #ownerSecret = `zuliprealm_${randomBytes(16).toString('hex')}`;

  constructor(options: ReportOptions, log: string[]) {
    this.#options = options;
    this.#log = log;
  }

  setStatus(canPush: boolean, expectedEnd: number | null): void {
    this.isPushOn = canPush;
    this.expectedEnd = expectedEnd;
  }

  /** Sends the report. Stores the realm's push status, even if the report fails. */
  async send(counts: Counts = noCounts): Promise<void> {
    try {
      await this.report(counts);
    } catch (error) {
      if (!(error instanceof RelayFailure)) throw error;
      this.#failed(error);
    }
  }

  /** Asks the relay which rows it has, then sends the missing rows and the realm. @throws RelayFailure */
  async report(counts: Counts = noCounts): Promise<void> {
    const known = await askRelay(this.#options, 'GET', 'server/analytics/status');
    const form = this.#form(known, counts);
    const { realms } = await askRelay(this.#options, 'POST', 'server/analytics', { form });
    this.#take(realms);
  }

  #form(known: Record<string, unknown>, counts: Counts): Record<string, string> {
    const { realm } = this.#options;
    const rows = (last: unknown, have: number, make: (id: number) => object): object[] => {
      if (!Number.isInteger(last)) throw new RelayFailure('unhandled', 'the last id is not an integer');
      const ids = Array.from({ length: have }, (_, index) => index + 1).filter((id) => id > Number(last));
      this.rowsSent += Math.min(ids.length, mostRows);
      return ids.slice(0, mostRows).map(make);
    };
    const count = {
      property: 'messages_sent:is_bot:hour',
      subgroup: 'false',
      value: 3,
      end_time: 1773230400.0,
    };
    const { last_realm_count_id, last_installation_count_id, last_realmauditlog_id } = known;
    return {
      realm_counts: json(rows(last_realm_count_id, counts.realmCounts, (id) => ({ ...count, id, realm: 1 }))),
      installation_counts: json(
        rows(last_installation_count_id, counts.installationCounts, (id) => ({ ...count, id })),
      ),
      realmauditlog_rows: json(
        rows(last_realmauditlog_id, counts.auditLogRows, (id) => ({
          id,
          realm: 1,
          event_time: 1773230400.25,
          backfilled: false,
          event_type: 101,
          extra_data: { role_count: { '11': { '100': 1 } } },
        })),
      ),
      realms: json([this.#realm(realm)]),
      version: json('12.1'),
      merge_base: json(''),
      api_feature_level: json(500),
    };
  }

  /** The realm as the report describes it, including fields that newer servers send. */
  #realm({ uuid, url, name }: ReportOptions['realm']): object {
    return {
      id: 2,
      host: new URL(url).host,
      url,
      name,
      org_type: 10,
      date_created: 1773200000.5,
      deactivated: false,
      is_system_bot_realm: false,
      authentication_methods: { Email: true },
      uuid,
      uuid_owner_secret: this.#ownerSecret,
      description: '',
      is_demo_organization: false,
      invite_required: true,
      asks_to_advertise: false,
      icon_url: `/user_avatars/${randomUUID()}`,
    };
  }

  #take(realms: unknown): void {
    const status = (realms as Record<string, Record<string, unknown>> | null)?.[this.#options.realm.uuid];
    if (typeof status?.can_push !== 'boolean') {
      this.#failed(new RelayFailure('unhandled', `unexpected realms: ${JSON.stringify(realms)}`));
      return;
    }
    this.setStatus(status.can_push, status.expected_end_timestamp as number | null);
  }

  /**
   * Handles a failed report. A `server` failure never disables push. Any other failure does, unless a push succeeded
   * within the last hour.
   */
  #failed(failure: RelayFailure): void {
    this.#log.push(`WARNING hourly report: ${failure.kind}: ${failure.message}`);
    if (failure.kind === 'server') return;
    const { lastSuccessAt } = this;
    const hasWorked = lastSuccessAt !== undefined && this.#options.clock() - lastSuccessAt < hourMilliseconds;
    if (!hasWorked) this.setStatus(false, null);
  }
}

function json(value: unknown): string {
  return JSON.stringify(value);
}
