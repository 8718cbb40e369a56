import { type LimitNode, SqliteQueryCompiler, ValueNode } from 'kysely';

/**
 * Writes limits into the text of queries. SQLite looks at one that is bound while it plans, and so compiles the query again
 * at each execution, which takes longer than most of them run.
 */
export class FixedLimitsCompiler extends SqliteQueryCompiler {
  protected override visitLimit(node: LimitNode): void {
    const { limit } = node;
    if (ValueNode.is(limit) && typeof limit.value === 'number') {
      this.append('limit ');
      this.appendImmediateValue(limit.value);
    } else super.visitLimit(node);
  }
}
