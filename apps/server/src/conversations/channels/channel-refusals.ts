import { ProtocolError, refused } from '@waxwing/protocol';

/** For channels that do not exist or that the client may not see. */
export function noSuchChannel(): ProtocolError {
  return refused('Invalid channel ID');
}

export function channelExists(name: string): ProtocolError {
  return new ProtocolError('CHANNEL_ALREADY_EXISTS', {
    message: `Channel '${name}' already exists.`,
    fields: { channel_name: name },
  });
}
