/** Highest row ids that a server has reported, by list. */
export interface ReportedIds {
  readonly realmCounts: number;
  readonly installationCounts: number;
  readonly auditLogRows: number;
}

const none: ReportedIds = { realmCounts: 0, installationCounts: 0, auditLogRows: 0 };

/**
 * Remembers which rows each stock server has reported, so that the server does not send the same megabytes every hour.
 * Keeps them only in memory: after a restart of the relay, or to another process, a server sends its rows again.
 */
export class ReportedCounts {
  readonly #ids = new Map<string, ReportedIds>();

  of(serverId: string): ReportedIds {
    return this.#ids.get(serverId) ?? none;
  }

  /** Adds the highest ids of one report. */
  add(serverId: string, ids: ReportedIds): void {
    const before = this.of(serverId);
    this.#ids.set(serverId, {
      realmCounts: Math.max(before.realmCounts, ids.realmCounts),
      installationCounts: Math.max(before.installationCounts, ids.installationCounts),
      auditLogRows: Math.max(before.auditLogRows, ids.auditLogRows),
    });
  }
}
