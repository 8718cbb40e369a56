import { hasVisibleCharacter } from '@waxwing/markdown';
import { refused } from '@waxwing/protocol';
import { realmLimits } from '../../../people/realm/realm-limits.js';

const cutEnding = '\n[message truncated]';

/**
 * Normalizes a new message's text: removes leading newlines and trailing whitespace, and truncates it to the limit in
 * code points.
 * @throws ProtocolError BAD_REQUEST if no visible character is left.
 */
export function readNewContent(text: string): string {
  const content = text.replace(/^\n+/, '').trimEnd();
  if (!hasVisibleCharacter(content)) throw refused('Message must not be empty');
  // Fast path: a text has at most as many code points as code units.
  if (content.length <= realmLimits.max_message_length) return content;
  const characters = [...content];
  if (characters.length <= realmLimits.max_message_length) return content;
  return characters.slice(0, realmLimits.max_message_length - cutEnding.length).join('') + cutEnding;
}
