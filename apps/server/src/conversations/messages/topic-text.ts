import { refused } from '@waxwing/protocol';
import { realmLimits } from '../../people/realm/realm-limits.js';
import { nameProblem } from '../../platform/names/name-problem.js';

/** The prefix of a resolved topic. */
const resolvedMark = '✔ ';
const cutEnding = '...';

/** Normalizes a topic to its stored form. The display name of the unnamed topic becomes the empty string. */
export function readTopic(text: string): string {
  const trimmed = text.trim();
  return trimmed === realmLimits.realm_empty_topic_display_name ? '' : trimmed;
}

/**
 * Truncates a topic to the limit in code points and appends an ellipsis. Also removes invisible characters before the
 * ellipsis: if an emoji sequence is cut after a joiner, the next message to this topic would be rejected.
 */
export function cutTopic(topic: string): string {
  const characters = [...topic];
  if (characters.length <= realmLimits.max_topic_length) return topic;
  const cut = characters.slice(0, realmLimits.max_topic_length - cutEnding.length).join('');
  return cut.replace(/\p{Default_Ignorable_Code_Point}+$/u, '') + cutEnding;
}

/** Returns whether the topic is only the resolved mark, or the mark and the display name of the unnamed topic. */
function resolvesNothing(topic: string): boolean {
  return topic === resolvedMark.trim() || topic === resolvedMark + realmLimits.realm_empty_topic_display_name;
}

export type Resolution = 'resolved' | 'unresolved';

/**
 * Detects a topic change that only adds or removes the resolved mark. `wanted` is the topic before truncation. Returns
 * `undefined` for any other change.
 */
export function resolutionOf(before: string, wanted: string): Resolution | undefined {
  const [wasResolved, isResolved] = [before.startsWith(resolvedMark), wanted.startsWith(resolvedMark)];
  if (isResolved && !wasResolved)
    return wanted.slice(resolvedMark.length) === before ? 'resolved' : undefined;
  if (wasResolved && !isResolved) return before.replace(/^[✔ ]+/u, '') === wanted ? 'unresolved' : undefined;
  return undefined;
}

/** Returns the {@link nameProblem} of a topic, or `undefined` if the topic is valid or unnamed. */
export function topicProblem(topic: string, end?: string): string | undefined {
  return topic === '' ? undefined : nameProblem('topic', topic, end);
}

/**
 * Checks the topic in a request. `end` is appended to the message about an invalid character.
 * @throws ProtocolError BAD_REQUEST if the topic has a {@link topicProblem}, or is only the mark of resolved topics.
 */
export function checkTopic(topic: string, end?: string): void {
  if (resolvesNothing(topic)) throw refused('General chat cannot be marked as resolved');
  const problem = topicProblem(topic, end);
  if (problem !== undefined) throw refused(problem);
}
