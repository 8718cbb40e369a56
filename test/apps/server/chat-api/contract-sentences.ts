/** One sentence of the contract, with its heading. */
export interface ContractSentence {
  readonly heading: string;
  readonly text: string;
}

/**
 * Returns every sentence of the contract in order, from paragraphs, lists and tables. A sentence from a table begins
 * with the first cell of its row. The cells between the first and the last are combined with their column names into
 * one sentence.
 */
export function contractSentences(markdown: string): ContractSentence[] {
  const sentences: ContractSentence[] = [];
  let heading = '';
  let columns: readonly string[] | undefined;
  for (const line of markdown.split('\n')) {
    const isRow = line.startsWith('|');
    if (!isRow) columns = undefined;
    if (/^#+ /.test(line)) heading = line.replace(/^#+ /, '');
    else if (!isRow) sentences.push(...split(line.replace(/^\s*(?:\d+\.|-)\s+/, '')).map(under(heading)));
    else if (columns === undefined) columns = cellsOf(line);
    else if (!/^[|\s:-]+$/.test(line)) sentences.push(...ofRow(columns, cellsOf(line)).map(under(heading)));
  }
  return sentences;
}

function under(heading: string): (text: string) => ContractSentence {
  return (text) => ({ heading, text });
}

function ofRow([, ...columns]: readonly string[], [name = '', ...cells]: readonly string[]): string[] {
  const facts = cells
    .slice(0, -1)
    .flatMap((cell, index) => (cell === '' ? [] : [`${columns[index]} ${cell}`]));
  const said = facts.length === 1 ? split(facts.join()) : facts.length === 0 ? [] : [facts.join(', ')];
  return [...said, ...split(cells.at(-1) ?? '')].map((text) => `${name}: ${text}`);
}

function cellsOf(row: string): string[] {
  return row
    .replace(/^\|/, '')
    .replace(/\|\s*$/, '')
    .split('|')
    .map((cell) => cell.trim());
}

/** Splits a text into sentences. Each list item after a colon becomes a sentence, unless an item contains a colon. */
function split(text: string): string[] {
  return endingWith('.', text)
    .flatMap((sentence) => {
      const [first = '', ...others] = endingWith(';', sentence);
      const [, lead] = /^(.+?:) /.exec(first) ?? [];
      const isList = lead !== undefined && !others.some((other) => other.includes(': '));
      return [first, ...others.map((other) => (isList ? `${lead} ${other}` : other))];
    })
    .map((part) => part.replace(/[.;:]+$/, ''))
    .filter((part) => part !== '');
}

/** Splits a text after each such character, except inside parentheses. */
function endingWith(end: '.' | ';', text: string): string[] {
  const parts = [''];
  let depth = 0;
  for (const word of text.split(/\s+/)) {
    parts.push(`${parts.pop()} ${word}`.trim());
    depth += word.split('(').length - word.split(')').length;
    if (depth === 0 && word.endsWith(end)) parts.push('');
  }
  return parts.filter((part) => part !== '');
}
