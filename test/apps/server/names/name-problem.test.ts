import { describe, expect, it } from 'vitest';
import { cutTopic, topicProblem } from '#server/conversations/messages/topic-text.js';
import { nameProblem } from '#server/platform/names/name-problem.js';
import fc from '../../../support/fast-check.js';
import { goodNames, hiddenIn, reversing } from './names.js';

const problem = (name: string) => nameProblem('name', name);

describe('a name', () => {
  it.each(goodNames)('can be %j', (name) => {
    expect(problem(name)).toBeUndefined();
  });

  it.each(Object.entries(hiddenIn))('cannot be %s', (_what, name) => {
    expect(problem(name)).toMatch(/^Invalid character in name, at position \d+\.$/);
  });

  it.each([
    ...['\u2800', '\u0301', ' ', '\ufffc', '\u2800\u2800', '\u064b'],
    ...['\u{1d159}', '\u{16fe4}', '\u{13441}', '\u{13442}'],
  ])('must show something, unlike %j', (name) => {
    expect(problem(name)).toBe('The name has no visible character.');
  });

  it('cannot have a character that reverses the text, at any position', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...goodNames),
        fc.constantFrom(...reversing),
        fc.nat(),
        (name, character, place) => {
          const characters = [...name];
          const index = place % (characters.length + 1);
          characters.splice(index, 0, character);
          expect(problem(characters.join(''))).toContain('Invalid character in name, at position');
        },
      ),
    );
  });

  it('cannot have a joiner, tag or other invisible character that does not change the letters around it', () => {
    const invisible = fc.constantFrom(
      ...[
        0x200b, 0x200c, 0x200d, 0x2060, 0xfeff, 0xad, 0x34f, 0x180e, 0x200e, 0x200f, 0x61c, 0x3164, 0x115f,
        0xffa0,
      ],
      ...[0xfe00, 0xfe0f, 0xe0061, 0xe007f, 0xe0100, 0x1d173, 0x2063, 0x206a, 0xfff9],
    );
    const letters = fc.stringMatching(/^[A-Za-zàéßñжЖωあ日가0-9 ._-]{1,6}$/);
    fc.assert(
      fc.property(letters, invisible, letters, (before, code, after) => {
        // A variation selector is allowed after a Chinese character.
        fc.pre(!(/日$/.test(before) && /[\ufe00\u{e0100}]/u.test(String.fromCodePoint(code))));
        const position = [...before].length + 1;
        expect(problem(`${before}${String.fromCodePoint(code)}${after}`)).toBe(
          `Invalid character in name, at position ${position}.`,
        );
      }),
    );
  });

  it('is checked in linear time', () => {
    for (const text of ['\u{1f3fd}', '👩\u200d', 'ى', '🏴\u{e0061}', '\u094d\u200d', '0\ufe0f']) {
      const begun = performance.now();
      problem(text.repeat(30_000));
      expect(performance.now() - begun).toBeLessThan(1000);
    }
  });
});

describe('a truncated topic', () => {
  it('is valid as a new topic', () => {
    const part = fc.constantFrom(...goodNames);
    fc.assert(
      fc.property(fc.array(part, { minLength: 1, maxLength: 30 }), (parts) => {
        const topic = parts.join(' ');
        expect(topicProblem(topic)).toBeUndefined();
        expect(topicProblem(cutTopic(topic))).toBeUndefined();
        expect([...cutTopic(topic)].length).toBeLessThanOrEqual(60);
      }),
      { numRuns: 500 },
    );
  });
});
