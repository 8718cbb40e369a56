import { ProtocolError, refused } from '@waxwing/protocol';

/** Returns the error for a channel that does not exist or that the actor cannot see. */
export function noSuchChannel(): ProtocolError {
  return refused('Invalid channel ID');
}

export function channelExists(name: string): ProtocolError {
  return new ProtocolError('CHANNEL_ALREADY_EXISTS', {
    message: `Channel '${name}' already exists.`,
    fields: { channel_name: name },
  });
}
