import { type ProtocolError, refused } from '@waxwing/protocol';

// The messages are the same as on stock servers, because clients may compare them.

/** Returns the error for a device that does not exist or belongs to another user. */
export function invalidDevice(): ProtocolError {
  return refused('Invalid `device_id`');
}

export function missingGroups(): ProtocolError {
  return refused('Missing parameters: must provide either all push key fields, all token fields, or both.');
}

export function invalidPushKey(): ProtocolError {
  return refused('Invalid `push_key`');
}

export function invalidTokenId(): ProtocolError {
  return refused('`token_id` is not Base64 encoded');
}

export function alreadyInProgress(): ProtocolError {
  return refused('A registration for the device already in progress.');
}

/** Returns the error for a request to replace the key or token of a device that has none yet. */
export function nothingToRotate(what: 'key' | 'token'): ProtocolError {
  return refused(`No push registration exists to rotate ${what} for.`);
}
