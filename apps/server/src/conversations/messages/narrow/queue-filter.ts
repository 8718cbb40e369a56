import type { ChannelId } from '@waxwing/protocol';
import { realmLimits } from '../../../people/realm/realm-limits.js';
import { addressKey } from '../../../platform/names/address-key.js';
import { messageFlags } from '../message-flags.js';
import { topicKey } from '../message-store.js';
import { badNarrow, type NarrowTerm, operatorOf } from './narrow-terms.js';

/** The fields of a new message that an event queue's narrow can test. */
export interface FilteredMessage {
  /** `undefined` for direct messages. */
  readonly channel: { readonly id: ChannelId; readonly name: string } | undefined;
  readonly topic: string;
  readonly sender: { readonly id: number; readonly email: string };
  /** Bits of the user's copy. `undefined` if the user has no copy. */
  readonly flags: number | undefined;
}

type Test = (message: FilteredMessage, operand: string) => boolean;

const flagTest =
  (...names: (keyof typeof messageFlags)[]): Test =>
  ({ flags = messageFlags.read }) =>
    names.some((name) => (flags & messageFlags[name]) !== 0);
const isDirect: Test = ({ channel }) => channel === undefined;

const isTests: Readonly<Record<string, Test>> = {
  dm: isDirect,
  private: isDirect,
  unread: (message) => !flagTest('read')(message, ''),
  starred: flagTest('starred'),
  mentioned: flagTest('mentioned', 'stream_wildcard_mentioned', 'topic_wildcard_mentioned'),
  alerted: flagTest('has_alert_word'),
  resolved: ({ channel, topic }) => channel !== undefined && topic.startsWith('✔ '),
};

const tests: Readonly<Record<string, Test>> = {
  channel: ({ channel }, operand) =>
    channel !== undefined &&
    (channel.name.toLowerCase() === operand.toLowerCase() || String(channel.id) === operand),
  topic: ({ channel, topic }, operand) =>
    channel !== undefined &&
    topicKey(topic) === (operand === realmLimits.realm_empty_topic_display_name ? '' : topicKey(operand)),
  sender: ({ sender }, operand) =>
    addressKey(sender.email) === addressKey(operand) || String(sender.id) === operand,
  is: (message, operand) => isTests[operand]?.(message, operand) ?? false,
};

/**
 * Maximum length of a queue's narrow as JSON. Bounds the cost of sending: each message is tested against the narrow of
 * each queue.
 */
const maximumCharacters = 2000;

/** @throws ProtocolError BAD_NARROW if the terms are too long, or test data that a new message does not contain. */
export function checkQueueNarrow(terms: readonly NarrowTerm[]): void {
  if (JSON.stringify(terms).length > maximumCharacters)
    throw badNarrow(`a queue's narrow may have at most ${maximumCharacters} characters`);
  for (const term of terms) {
    const operator = operatorOf(term);
    if (!Object.hasOwn(tests, operator)) throw badNarrow(`${term.operator} is not supported for queues`);
    if (operator === 'is' && !Object.hasOwn(isTests, String(term.operand)))
      throw badNarrow(`unknown operand ${String(term.operand)} of is`);
  }
}

/** Returns whether a message meets all terms. {@link checkQueueNarrow} must have validated the terms. */
export function meetsNarrow(terms: readonly NarrowTerm[], message: FilteredMessage): boolean {
  return terms.every((term) => {
    const meets = tests[operatorOf(term)]?.(message, String(term.operand)) ?? false;
    return meets !== term.isNegated;
  });
}
