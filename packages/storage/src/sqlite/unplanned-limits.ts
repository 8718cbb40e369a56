import { type LimitNode, SqliteQueryCompiler } from 'kysely';

/**
 * Writes limits as sums (`? + 0`). If a limit is a bare parameter, SQLite's planner inspects its value and recompiles
 * the query at each execution, which takes longer than running most queries.
 */
export class UnplannedLimitsCompiler extends SqliteQueryCompiler {
  protected override visitLimit(node: LimitNode): void {
    super.visitLimit(node);
    this.append(' + 0');
  }
}
