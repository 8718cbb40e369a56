import { realmLimits } from '../realm/realm-limits.js';

/** What a topic begins with that is resolved. */
const resolvedMark = '✔ ';
const cutEnding = '...';

/** A topic as it is stored; the display name of the topic without a name stands for that one. */
export function readTopic(text: string): string {
  const trimmed = text.trim();
  return trimmed === realmLimits.realm_empty_topic_display_name ? '' : trimmed;
}

/** A topic within the limit, in code points; what was cut off is seen. */
export function cutTopic(topic: string): string {
  const characters = [...topic];
  if (characters.length <= realmLimits.max_topic_length) return topic;
  return characters.slice(0, realmLimits.max_topic_length - cutEnding.length).join('') + cutEnding;
}

/** Whether it is the mark alone, or the mark before the topic without a name. */
export function resolvesNothing(topic: string): boolean {
  return topic === resolvedMark.trim() || topic === resolvedMark + realmLimits.realm_empty_topic_display_name;
}

export type Resolution = 'resolved' | 'unresolved';

/** What a change of topic does to it where it changes nothing but the mark; `wanted` is not cut. */
export function resolutionOf(before: string, wanted: string): Resolution | undefined {
  const [wasResolved, isResolved] = [before.startsWith(resolvedMark), wanted.startsWith(resolvedMark)];
  if (isResolved && !wasResolved)
    return wanted.slice(resolvedMark.length) === before ? 'resolved' : undefined;
  if (wasResolved && !isResolved) return before.replace(/^[✔ ]+/u, '') === wanted ? 'unresolved' : undefined;
  return undefined;
}

/** Where, from 1 on and in code points, a topic has something that cannot be shown; `undefined` for a good one. */
export function unprintablePosition(topic: string): number | undefined {
  const index = [...topic].findIndex((character) =>
    /[\p{Cc}\p{Cs}\p{Noncharacter_Code_Point}]/u.test(character),
  );
  return index < 0 ? undefined : index + 1;
}
