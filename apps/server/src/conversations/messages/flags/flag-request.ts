import type { MessageId } from '@waxwing/protocol';
/** Flags that clients may change. */
export const changeableFlags = ['read', 'starred', 'collapsed', 'hide_link_previews'] as const;

/** A requested flag change on a user's copies of messages. */
export interface FlagRequest {
  readonly messageIds: readonly MessageId[];
  readonly op: 'add' | 'remove';
  readonly flag: (typeof changeableFlags)[number];
}
