import type { ServerPush, UserId } from '@waxwing/server-push';

/** A text message for a user. The app finds the message by its id. */
interface Notice {
  readonly messageId: number;
  readonly senderId: UserId;
  readonly senderName: string;
  readonly senderPicture: string;
  readonly text: string;
}

const dayMilliseconds = 24 * 60 * 60_000;

/** Sends a text notification to a user's phones. Returns the result as a sentence. */
export async function notifyUser(push: ServerPush, userId: UserId, notice: Notice): Promise<string> {
  const reach = await push.send({
    userId,
    content: {
      type: 'message',
      messageId: notice.messageId,
      time: Math.floor(Date.now() / 1000),
      content: notice.text,
      senderId: notice.senderId,
      senderFullName: notice.senderName,
      senderAvatarUrl: notice.senderPicture,
      recipient: { kind: 'direct', userIds: [notice.senderId, userId] },
    },
    giveUpAt: Date.now() + dayMilliseconds,
  });
  if (reach.kind === 'no-relay') return 'Not sent: the organization has no relay.';
  if (reach.kind === 'switched-off') return 'Not sent: the relay has switched push off.';
  if (reach.kind === 'no-device') return 'Not sent: the user has no phone that accepts notifications.';
  return `On its way to ${reach.devices} of the user's devices.`;
}
