import { type Expression, parseExpression } from './go-expression.js';

/** A part of a template: text, an output, or a block with its content. */
type Node =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'output'; readonly expression: Expression }
  | { readonly kind: 'variable'; readonly name: string; readonly expression: Expression }
  | {
      readonly kind: 'if' | 'with' | 'range' | 'define';
      readonly head: string;
      readonly body: readonly Node[];
      readonly otherwise: readonly Node[];
    };

type Functions = Readonly<Record<string, (...values: readonly unknown[]) => unknown>>;
type Variables = ReadonlyMap<string, unknown>;

/**
 * Renders the subset of Go templates that the chart uses, as Helm does. Throws for an unknown function, block or kind
 * of expression, so a chart that uses unsupported features fails.
 */
export class GoTemplates {
  readonly #functions: Functions;
  readonly #defined = new Map<string, readonly Node[]>();

  constructor(functions: Functions) {
    this.#functions = {
      ...functions,
      include: (name, context) =>
        this.#render(this.#body(name as string), context, new Map([['$', context]])),
    };
  }

  /** Renders a file, and keeps its `define` blocks for later `include` calls. */
  render(source: string, context: unknown): string {
    return this.#render(parse(source), context, new Map([['$', context]]));
  }

  #body(name: string): readonly Node[] {
    const body = this.#defined.get(name);
    if (body === undefined) throw new Error(`an unknown template: ${name}`);
    return body;
  }

  #render(nodes: readonly Node[], dot: unknown, outer: Variables): string {
    const variables = new Map(outer);
    return nodes
      .map((node) => {
        if (node.kind === 'text') return node.text;
        if (node.kind === 'output') return printed(this.#value(node.expression, dot, variables));
        if (node.kind !== 'variable') return this.#block(node, dot, variables);
        variables.set(node.name, this.#value(node.expression, dot, variables));
        return '';
      })
      .join('');
  }

  #block(node: Extract<Node, { readonly body: unknown }>, dot: unknown, variables: Variables): string {
    if (node.kind === 'define') {
      this.#defined.set(parseExpression(node.head).name, node.body);
      return '';
    }
    if (node.kind === 'range') return this.#range(node, dot, variables);
    const value = this.#value(parseExpression(node.head), dot, variables);
    if (!isTrue(value)) return this.#render(node.otherwise, dot, variables);
    return this.#render(node.body, node.kind === 'with' ? value : dot, variables);
  }

  #range(node: Extract<Node, { readonly body: unknown }>, dot: unknown, variables: Variables): string {
    const [, key = '', item = '', head = ''] = /^\$(\w+), \$(\w+) := (.*)$/.exec(node.head) ?? [];
    if (head === '') throw new Error(`an unsupported form of range: ${node.head}`);
    const values = this.#value(parseExpression(head), dot, variables) as Record<string, unknown>;
    return Object.keys(values)
      .sort()
      .map((name) =>
        this.#render(
          node.body,
          values[name],
          new Map([...variables, [`$${key}`, name], [`$${item}`, values[name]]]),
        ),
      )
      .join('');
  }

  #value(expression: Expression, dot: unknown, variables: Variables): unknown {
    if (expression.kind === 'literal') return expression.value;
    const values = expression.values.map((value) => this.#value(value, dot, variables));
    if (expression.kind === 'call') {
      const call = this.#functions[expression.name];
      if (call === undefined) throw new Error(`an unknown function: ${expression.name}`);
      return call(...values);
    }
    const start = expression.name === '' ? dot : variables.get(expression.name);
    return expression.path.reduce<unknown>((at, name) => (at as Record<string, unknown>)[name], start);
  }
}

/** Truthiness in Go templates: empty strings, lists and objects, zero and unset values are false. */
export function isTrue(value: unknown): boolean {
  if (typeof value === 'object' && value !== null) return Object.keys(value).length > 0;
  return Boolean(value);
}

function printed(value: unknown): string {
  if (value === undefined || value === null) throw new Error('a template prints a value that is not set');
  return String(value);
}

function parse(source: string): readonly Node[] {
  const pieces = source.split(/\{\{(-?[\s\S]*?-?)\}\}/);
  const trimmed = pieces.map((piece, index) => {
    if (index % 2 === 1) return piece.replace(/^-\s/, '').replace(/\s-$/, '').trim();
    const after = pieces[index - 1]?.endsWith(' -') ? piece.trimStart() : piece;
    return /^-\s/.test(pieces[index + 1] ?? '') ? after.trimEnd() : after;
  });
  const tokens = trimmed.map((text, index) => ({ text, isAction: index % 2 === 1 }));
  const { nodes, end } = parseUntil(tokens, 0);
  if (end < tokens.length) throw new Error(`an end without a block: ${tokens[end]?.text}`);
  return nodes;
}

type Token = { readonly text: string; readonly isAction: boolean };

/**
 * Parses up to the next `else` or `end` of the same block, or up to the end of the file. Also returns the index where
 * it stopped.
 */
function parseUntil(tokens: readonly Token[], from: number): { nodes: readonly Node[]; end: number } {
  const nodes: Node[] = [];
  let at = from;
  for (; at < tokens.length; at++) {
    const { text, isAction } = tokens[at] as Token;
    if (!isAction) nodes.push({ kind: 'text', text });
    else if (text === 'end' || text === 'else') return { nodes, end: at };
    else if (/^(?:if|with|range|define) /.test(text)) at = parseBlock(tokens, at, nodes);
    else nodes.push(parseAction(text));
  }
  return { nodes, end: at };
}

function parseBlock(tokens: readonly Token[], at: number, nodes: Node[]): number {
  const [, kind = '', head = ''] = /^(\w+) (.*)$/.exec((tokens[at] as Token).text) ?? [];
  const body = parseUntil(tokens, at + 1);
  const hasElse = tokens[body.end]?.text === 'else';
  const otherwise = hasElse ? parseUntil(tokens, body.end + 1) : { nodes: [], end: body.end };
  if (tokens[otherwise.end]?.text !== 'end') throw new Error(`a block without an end: ${kind} ${head}`);
  nodes.push({
    kind: kind as 'if' | 'with' | 'range' | 'define',
    head,
    body: body.nodes,
    otherwise: otherwise.nodes,
  });
  return otherwise.end;
}

function parseAction(text: string): Node {
  const [, name, assigned] = /^(\$\w+) := (.*)$/.exec(text) ?? [];
  if (name === undefined) return { kind: 'output', expression: parseExpression(text) };
  return { kind: 'variable', name, expression: parseExpression(assigned as string) };
}
