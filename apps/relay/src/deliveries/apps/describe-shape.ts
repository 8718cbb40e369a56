import { lineOfJsonMistake } from '@waxwing/protocol';
import { nearestName } from '@waxwing/service/config';
import type { z } from 'zod';
import { lineInJson } from './line-in-json.js';

/**
 * Names the line where a text stops being valid JSON, and the likely mistakes. The result is the rest of a sentence
 * that starts with "The file …".
 */
export function describeJsonMistake(text: string): string {
  return `is not JSON from line ${lineOfJsonMistake(text)} on: look there for a comma, a quote or a bracket that is missing or extra, or a comment.`;
}

/** Describes each schema violation in an apps file in one sentence, with its line and field. */
export function describeMistakes(
  { path, text }: { readonly path: string; readonly text: string },
  issues: readonly z.core.$ZodIssue[],
  fieldsOf: Readonly<Record<string, readonly string[]>>,
): string[] {
  return issues.flatMap((issue) => {
    const place = issue.path.map((part) => String(part)).join('.');
    const say = (at: readonly PropertyKey[], sentence: string) =>
      `The apps file ${path}, line ${lineInJson(text, at)}: ${sentence}`;
    if (issue.code !== 'unrecognized_keys') {
      return [say(issue.path, `${place === '' ? 'the whole' : place} ${describeIssue(issue)}.`)];
    }
    const known = fieldsOf[String(issue.path[0] ?? '')] ?? [];
    return issue.keys.map((key) => {
      const meant = nearestName(key, known);
      const advice = meant === undefined ? `there are ${known.join(', ')}.` : `did you mean ${meant}?`;
      const name = [...issue.path, key].map((part) => String(part)).join('.');
      return say([...issue.path, key], `${name} is not a field: ${advice}`);
    });
  });
}

const typeNames: Readonly<Record<string, string>> = {
  string: 'a string',
  array: 'a list, in [ ]',
  object: 'an object, in { }',
  boolean: 'true or false',
};

function describeIssue(issue: z.core.$ZodIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      return issue.message.endsWith('received undefined')
        ? 'is missing'
        : `must be ${typeNames[issue.expected] ?? issue.expected}`;
    case 'too_small':
      return 'must not be empty';
    case 'invalid_value':
      return `must be one of ${issue.values.map((value) => JSON.stringify(value)).join(', ')}`;
    default:
      // The message is from this schema or from the `uuid` schema. Both describe the expected format.
      return issue.message;
  }
}
