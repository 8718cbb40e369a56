/** A value in a template: a literal, a path such as `$.Values.image`, or a function call. */
export type Expression =
  | { readonly kind: 'literal'; readonly value: string | number; readonly name: string }
  | {
      readonly kind: 'path';
      /** The variable at the start of the path. Empty for the dot. */
      readonly name: string;
      readonly path: readonly string[];
      readonly values: readonly Expression[];
    }
  | { readonly kind: 'call'; readonly name: string; readonly values: readonly Expression[] };

/** Parses an expression with pipes. @throws Error for syntax that the chart does not use. */
export function parseExpression(text: string): Expression {
  const tokens = text.match(/"[^"]*"|[()|]|[^\s()|]+/g) ?? [];
  const { expression, end } = parsePipeline(tokens, 0);
  if (end !== tokens.length) throw new Error(`cannot parse the expression: ${text}`);
  return expression;
}

interface Parsed {
  readonly expression: Expression;
  readonly end: number;
}

function parsePipeline(tokens: readonly string[], from: number): Parsed {
  let { expression, end } = parseCall(tokens, from, undefined);
  while (tokens[end] === '|') ({ expression, end } = parseCall(tokens, end + 1, expression));
  return { expression, end };
}

/** Parses a single value or a function call. A pipe passes its value as the last argument. */
function parseCall(tokens: readonly string[], from: number, piped: Expression | undefined): Parsed {
  const values: Expression[] = [];
  let at = from;
  while (at < tokens.length && tokens[at] !== '|' && tokens[at] !== ')') {
    const { expression, end } = parseValue(tokens, at);
    values.push(expression);
    at = end;
  }
  const [first, ...rest] = values;
  if (first === undefined) throw new Error(`an empty expression: ${tokens.join(' ')}`);
  if (first.kind === 'call' && first.values.length === 0)
    return {
      expression: { ...first, values: piped === undefined ? rest : [...rest, piped] },
      end: at,
    };
  if (rest.length > 0 || piped !== undefined) throw new Error(`not a function: ${tokens.join(' ')}`);
  return { expression: first, end: at };
}

function parseValue(tokens: readonly string[], at: number): Parsed {
  const token = tokens[at] as string;
  if (token === '(') {
    const { expression, end } = parsePipeline(tokens, at + 1);
    if (tokens[end] !== ')') throw new Error(`a missing closing parenthesis: ${tokens.join(' ')}`);
    return { expression, end: end + 1 };
  }
  return { expression: parseToken(token), end: at + 1 };
}

function parseToken(token: string): Expression {
  if (token.startsWith('"')) return { kind: 'literal', value: token.slice(1, -1), name: token.slice(1, -1) };
  if (/^\d+$/.test(token)) return { kind: 'literal', value: Number(token), name: token };
  if (token === '.') return { kind: 'path', name: '', path: [], values: [] };
  if (/^(?:\$\w*)?(?:\.\w+)*$/.test(token)) {
    const [name = '', ...path] = token.split('.');
    return { kind: 'path', name, path, values: [] };
  }
  if (/^[a-zA-Z]+$/.test(token)) return { kind: 'call', name: token, values: [] };
  throw new Error(`an unknown kind of value: ${token}`);
}
