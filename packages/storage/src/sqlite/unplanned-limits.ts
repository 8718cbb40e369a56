import { type LimitNode, SqliteQueryCompiler } from 'kysely';

/**
 * Writes limits as sums (`? + 0`). SQLite's planner inspects the value of a limit that is a bare parameter, and
 * recompiles the query at each execution, which takes longer than running most queries.
 */
export class UnplannedLimitsCompiler extends SqliteQueryCompiler {
  protected override visitLimit(node: LimitNode): void {
    super.visitLimit(node);
    this.append(' + 0');
  }
}
