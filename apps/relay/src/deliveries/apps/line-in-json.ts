const tokens = /"(?:[^"\\]|\\.)*"|[{}[\],]|[^\s{}[\],:"]+/g;

interface Container {
  readonly isList: boolean;
  /** Name or index of the current element; `undefined` in an object until its next name is read. */
  at: string | number | undefined;
}

/**
 * Returns the line (from 1) of the value at `path` in a JSON text. For a missing value, returns the line of its nearest
 * existing container.
 */
export function lineInJson(text: string, path: readonly PropertyKey[]): number {
  const stack: Container[] = [];
  let best = { depth: 0, offset: Math.max(0, text.search(/\S/)) };
  for (const { 0: token, index } of text.matchAll(tokens)) {
    const top = stack.at(-1);
    if (token === '}' || token === ']') stack.pop();
    else if (token === ',') {
      if (top !== undefined) top.at = typeof top.at === 'number' ? top.at + 1 : undefined;
      continue;
    } else if (top !== undefined && !top.isList && top.at === undefined) {
      top.at = JSON.parse(token) as string;
    }
    const isOnPath = stack.every(({ at }, depth) => at === path[depth]);
    if (isOnPath && stack.length > best.depth && token !== '}' && token !== ']') {
      best = { depth: stack.length, offset: index };
    }
    if (token === '{') stack.push({ isList: false, at: undefined });
    if (token === '[') stack.push({ isList: true, at: 0 });
  }
  return text.slice(0, best.offset).split(/\r\n?|\n/).length;
}
