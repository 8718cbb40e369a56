import { refused } from '@waxwing/protocol';
import { realmLimits } from '../../realm/realm-limits.js';

const cutEnding = '\n[message truncated]';

/**
 * A new message's text as it is stored: without newlines before it and blanks after it, and within the limit in code points.
 * @throws ProtocolError BAD_REQUEST for one that says nothing.
 */
export function readNewContent(text: string): string {
  const content = text.replace(/^\n+/, '').trimEnd();
  if (content === '') throw refused('Message must not be empty');
  // Only a text that is longer in code units can be longer in code points.
  if (content.length <= realmLimits.max_message_length) return content;
  const characters = [...content];
  if (characters.length <= realmLimits.max_message_length) return content;
  return characters.slice(0, realmLimits.max_message_length - cutEnding.length).join('') + cutEnding;
}
