import type { MessageId } from '@waxwing/protocol';
/** The flags that clients change. */
export const changeableFlags = ['read', 'starred', 'collapsed'] as const;

/** What a user wants of their copies of messages. */
export interface FlagWish {
  readonly messageIds: readonly MessageId[];
  readonly op: 'add' | 'remove';
  readonly flag: (typeof changeableFlags)[number];
}
