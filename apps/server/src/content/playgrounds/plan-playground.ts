import { isKnownLanguage, resolveLanguage } from '@waxwing/markdown';
import { type ProtocolError, refused } from '@waxwing/protocol';
import { nameProblem } from '../../platform/names/name-problem.js';
import { urlTemplateProblem } from './url-template-problem.js';

/** Maximum length of a playground's name, in Unicode code points. */
const maximumNameCharacters = 100;

/** Format of language names that the highlighter does not know. They are allowed, because code blocks may use them. */
const languagePattern = /^[A-Za-z0-9 _+,./#-]{1,40}$/;

/** A requested playground. */
export interface PlaygroundRequest {
  readonly name: string;
  readonly language: string;
  readonly urlTemplate: string;
}

/** A playground to store. `language` is the display name, as in the HTML of code blocks. */
export type PlannedPlayground = PlaygroundRequest;

/**
 * Validates a requested playground and resolves its language.
 * @throws ProtocolError BAD_REQUEST with `errors`: a list of messages for each invalid field, or under `__all__` for a
 * problem that involves several fields.
 */
export function planPlayground(requested: PlaygroundRequest): PlannedPlayground {
  const name = requested.name.trim();
  const word = requested.language.trim();
  const templateProblem = urlTemplateProblem(requested.urlTemplate);
  const errors = {
    ...listed('name', problemOfName(name)),
    ...listed('pygments_language', languageProblem(word)),
    ...listed(templateProblem?.kind === 'variables' ? '__all__' : 'url_template', templateProblem?.message),
  };
  if (Object.keys(errors).length > 0) throw refusedPlayground(errors);
  return { name, language: resolveLanguage(word).displayName, urlTemplate: requested.urlTemplate };
}

export function playgroundTaken(): ProtocolError {
  return refusedPlayground({
    __all__: ['The language already has a playground with this name.'],
  });
}

function problemOfName(name: string): string | undefined {
  if (name === '') return 'Name cannot be blank.';
  if ([...name].length > maximumNameCharacters)
    return `Name cannot exceed ${maximumNameCharacters} characters.`;
  return nameProblem('name', name);
}

function languageProblem(word: string): string | undefined {
  if (isKnownLanguage(word) || languagePattern.test(word)) return undefined;
  return 'A language name must have 1 to 40 characters: letters, digits, spaces and any of _ + , - . / #';
}

function listed(field: string, problem: string | undefined): Record<string, string[]> {
  return problem === undefined ? {} : { [field]: [problem] };
}

function refusedPlayground(errors: Record<string, string[]>): ProtocolError {
  const [message = ''] = Object.values(errors).flat();
  return refused(message, { errors });
}
