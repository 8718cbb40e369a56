import { type LimitNode, SqliteQueryCompiler } from 'kysely';

/**
 * Writes limits as sums. SQLite looks at the value of one that is a parameter alone while it plans, and so compiles the
 * query again at each execution, which takes longer than most of them run.
 */
export class UnplannedLimitsCompiler extends SqliteQueryCompiler {
  protected override visitLimit(node: LimitNode): void {
    super.visitLimit(node);
    this.append(' + 0');
  }
}
