import type { z } from 'zod';

// Ids that the chat server assigns.

/** Id of a user or a bot. */
export type UserId = number & z.core.$brand<'UserId'>;

/** Id of a group: a set of users and other groups. A group may have no name. */
export type GroupId = number & z.core.$brand<'GroupId'>;

/** Id of a channel, which the wire format calls a stream. */
export type ChannelId = number & z.core.$brand<'ChannelId'>;

/** Id of a message; newer messages have greater ids. */
export type MessageId = number & z.core.$brand<'MessageId'>;
