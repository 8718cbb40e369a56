import { ProtocolError, refused } from '@waxwing/protocol';

/** For channels that do not exist, and for those that the requester may not know of. */
export function noSuchChannel(): ProtocolError {
  return refused('Invalid channel ID');
}

export function channelExists(name: string): ProtocolError {
  return new ProtocolError('CHANNEL_ALREADY_EXISTS', {
    message: `Channel '${name}' already exists.`,
    fields: { channel_name: name },
  });
}
