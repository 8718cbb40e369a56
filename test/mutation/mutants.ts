import { parseSync } from 'vite';

/** A small change to a source text that a good test detects. */
export interface Mutant {
  /** Line number, starting at 1. */
  readonly line: number;
  /** The change in readable form: `a < b -> a <= b`. */
  readonly change: string;
  /** The original line in which the change starts. */
  readonly source: string;
  /** The whole text with the change. */
  readonly text: string;
  readonly edit: Edit;
}

interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [field: string]: unknown;
}

/** Replacement of the text from `start` up to `end` (exclusive). */
export interface Edit {
  readonly start: number;
  readonly end: number;
  readonly by: string;
}

const swappedOperators: Readonly<Record<string, string>> = {
  '<': '<=',
  '<=': '<',
  '>': '>=',
  '>=': '>',
  '===': '!==',
  '!==': '===',
  '-': '+',
  '*': '/',
};

/**
 * Returns every mutant of a TypeScript text, in text order: conditions that are always true or always false, only one
 * side of `&&` and `||`, comparisons that are off by one or inverted, omitted statements and query conditions, lists
 * without one element, swapped booleans, and file modes that give access to all users.
 */
export function mutantsOf(text: string): Mutant[] {
  const { program, errors } = parseSync('source.ts', text);
  if (errors.length > 0) throw new Error(`The text to mutate does not parse: ${errors[0]?.message}`);
  const edits: Edit[] = [];
  walk(program as unknown as Node, (node) => edits.push(...editsOf(node, text)));
  const lines = text.split('\n');
  return edits
    .sort((a, b) => a.start - b.start || a.end - b.end)
    .map((edit) => ({ edit, line: text.slice(0, edit.start).split('\n').length }))
    .map(({ edit, line }) => ({
      line,
      source: lines[line - 1] ?? '',
      change: `${excerpt(text.slice(edit.start, edit.end))} -> ${excerpt(edit.by) || 'nothing'}`,
      text: text.slice(0, edit.start) + edit.by + text.slice(edit.end),
      edit,
    }));
}

function walk(node: Node, visit: (node: Node) => void): void {
  // Types have no effect at run time.
  if (node.type.startsWith('TS') && !['TSAsExpression', 'TSNonNullExpression'].includes(node.type)) return;
  if (node.type === 'ImportDeclaration') return;
  visit(node);
  for (const value of Object.values(node)) {
    for (const child of Array.isArray(value) ? value : [value]) {
      if (isNode(child)) walk(child, visit);
    }
  }
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && typeof (value as Node).type === 'string';
}

function editsOf(node: Node, text: string): Edit[] {
  const source = (part: unknown): string => text.slice((part as Node).start, (part as Node).end);
  const whole = (by: string): Edit => ({ start: node.start, end: node.end, by });
  switch (node.type) {
    case 'IfStatement':
      return ['false', 'true'].map((by) => replace(node.test, by));
    case 'ConditionalExpression':
      return ['false', 'true'].map((by) => replace(node.test, by));
    case 'LogicalExpression':
      return [whole(source(node.left)), whole(source(node.right))];
    case 'BinaryExpression': {
      const swapped = swappedOperators[node.operator as string];
      return swapped === undefined ? [] : [whole(`${source(node.left)} ${swapped} ${source(node.right)}`)];
    }
    case 'UnaryExpression':
      return node.operator === '!' ? [whole(source(node.argument))] : [];
    case 'CallExpression':
      return isCondition(node) ? [whole(source((node.callee as Node).object))] : [];
    case 'ArrayExpression':
      return (node.elements as readonly (Node | null)[])
        .filter((element) => element?.type === 'SpreadElement')
        .map((element) => replace(element, '...[]'));
    case 'ExpressionStatement':
      return isCall(node.expression as Node) ? [whole(';')] : [];
    case 'Literal':
      return literalEdits(node, whole);
    default:
      return [];
  }
}

// Detects a query's `.where(…)`.
function isCondition({ callee }: Node): boolean {
  const { type, property } = callee as Node & { readonly property?: { readonly name?: unknown } };
  return type === 'MemberExpression' && property?.name === 'where';
}

function literalEdits(node: Node, whole: (by: string) => Edit): Edit[] {
  if (typeof node.value === 'boolean') return [whole(String(!node.value))];
  if (typeof node.raw === 'string' && /^0o[0-7]{3}$/.test(node.raw)) return [whole('0o666')];
  return [];
}

function replace(node: unknown, by: string): Edit {
  const { start, end } = node as Node;
  return { start, end, by };
}

function isCall(expression: Node): boolean {
  const inner = expression.type === 'AwaitExpression' ? (expression.argument as Node) : expression;
  return inner.type === 'CallExpression' && (inner.callee as Node).type !== 'Super';
}

function excerpt(text: string): string {
  const oneLine = text.replace(/\s+/g, ' ').replace(/^;$/, '');
  return oneLine.length > 70 ? `${oneLine.slice(0, 67)}…` : oneLine;
}
