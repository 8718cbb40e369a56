/** Highest ids of the rows that a server reported, by list. */
export interface ReportedIds {
  readonly realmCounts: number;
  readonly installationCounts: number;
  readonly auditLogRows: number;
}

const none: ReportedIds = { realmCounts: 0, installationCounts: 0, auditLogRows: 0 };

/**
 * Remembers which rows each stock server has reported, so that it does not send the same megabytes every hour. In memory
 * only: after a restart, and to another process, a server sends them once more.
 */
export class ReportedCounts {
  readonly #ids = new Map<string, ReportedIds>();

  of(serverId: string): ReportedIds {
    return this.#ids.get(serverId) ?? none;
  }

  /** Adds the rows of one report. */
  add(serverId: string, rows: Readonly<Record<keyof ReportedIds, readonly unknown[]>>): void {
    const before = this.of(serverId);
    this.#ids.set(serverId, {
      realmCounts: highestId(rows.realmCounts, before.realmCounts),
      installationCounts: highestId(rows.installationCounts, before.installationCounts),
      auditLogRows: highestId(rows.auditLogRows, before.auditLogRows),
    });
  }
}

/** Ignores rows without an integer `id`. */
function highestId(rows: readonly unknown[], before: number): number {
  let highest = before;
  for (const row of rows) {
    const { id } = Object(row) as { readonly id?: unknown };
    if (Number.isSafeInteger(id)) highest = Math.max(highest, id as number);
  }
  return highest;
}
