import type { z } from 'zod';

// The chat server's numbers.

/** Of a user or a bot. */
export type UserId = number & z.core.$brand<'UserId'>;

/** Of a set of users and other groups, also of one that has no name. */
export type GroupId = number & z.core.$brand<'GroupId'>;

/** Of a channel, which is a stream on the wire. */
export type ChannelId = number & z.core.$brand<'ChannelId'>;

/** Of a message; it grows from one message to the next. */
export type MessageId = number & z.core.$brand<'MessageId'>;
