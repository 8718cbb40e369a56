import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { equivalents, isChange } from './equivalents.js';
import { mutantsOf } from './mutants.js';
import { targets } from './targets.js';
import { withSwitches } from './with-switches.js';

const changes = (text: string): string[] => mutantsOf(text).map(({ change }) => change);

describe('mutants of a source text', () => {
  it('replace a condition with false and with true', () => {
    expect(changes('if (ready) go = 1;')).toEqual(['ready -> false', 'ready -> true']);
  });

  it('drop either side of an "and" or an "or"', () => {
    expect(changes('const open = known && fresh;')).toEqual([
      'known && fresh -> known',
      'known && fresh -> fresh',
    ]);
  });

  it('shift a comparison by one, and negate an equality', () => {
    expect(changes('const late = age < limit;')).toEqual(['age < limit -> age <= limit']);
    expect(changes('const same = a === b;')).toEqual(['a === b -> a !== b']);
  });

  it('drop calls made for their side effect, awaited or not', () => {
    expect(changes('wipe(key); await sync(file);')).toEqual([
      'wipe(key); -> nothing',
      'await sync(file); -> nothing',
    ]);
  });

  it('drop query conditions and list elements', () => {
    expect(changes("rows.where('id', '=', 1).limit(2);")).toEqual([
      "rows.where('id', '=', 1) -> rows",
      "rows.where('id', '=', 1).limit(2); -> nothing",
    ]);
    expect(changes('const all = [...known, more];')).toEqual(['...known -> ...[]']);
  });

  it('swap booleans, drop negations, and open file modes to all users', () => {
    expect(changes('const strict = true;')).toEqual(['true -> false']);
    expect(changes('const closed = !open;')).toEqual(['!open -> open']);
    expect(changes('const mode = 0o600;')).toEqual(['0o600 -> 0o666']);
  });

  it('leave types and imports unchanged', () => {
    expect(changes("import { a } from 'a' with { type: 'json' };\ntype Flag = true | false;")).toEqual([]);
  });

  it('contain their line number and the whole text with the change', () => {
    const text = 'const a = 1;\nif (a < 2) stop();\n';
    expect(mutantsOf(text)[0]).toMatchObject({
      line: 2,
      change: 'a < 2 -> false',
      text: 'const a = 1;\nif (false) stop();\n',
    });
  });

  it('are rejected for a text that does not parse', () => {
    expect(() => mutantsOf('if (')).toThrow('does not parse');
  });
});

describe('equivalent mutants, which no test can kill', () => {
  it.each(equivalents)('occur exactly once in a file that is searched: $change', (equivalent) => {
    const { file } = equivalent;
    expect(targets.map((target) => target.file)).toContain(file);
    const mutants = mutantsOf(readFileSync(join(import.meta.dirname, '../..', file), 'utf8'));
    expect(mutants.filter((mutant) => isChange(equivalent, mutant))).toHaveLength(1);
  });
});

describe('a text that contains all of its mutants', () => {
  const text = `
    const all = [...known, 0];
    const isLate = all.length < 3 && !isEarly;
    if (isLate === true) note(isLate ? 'late' : 'early');
    note(all.length);
  `;
  function notesOf(program: string, mutant?: number): unknown[] {
    const notes: unknown[] = [];
    const note = (value: unknown): number => notes.push(value);
    // Passes the active mutant as a parameter to avoid global state.
    new Function('known', 'isEarly', 'note', 'globalThis', program)([7], false, note, { mutant });
    return notes;
  }

  it('behaves like the active mutant, and like the original text when none is active', () => {
    const mutants = mutantsOf(text);
    const switched = withSwitches(
      text,
      mutants.map(({ edit }) => edit),
    );
    expect(mutants.length).toBeGreaterThan(10);
    expect(notesOf(switched)).toEqual(['late', 2]);
    expect(mutants.map((_, number) => notesOf(switched, number))).toEqual(
      mutants.map((mutant) => notesOf(mutant.text)),
    );
  });
});
