import { z } from 'zod';

/** Parameter for an id that may be any integer. An id that cannot exist matches nothing. */
export const possibleId = z.number('must be an integer').int('must be an integer');
const id = possibleId.positive('must be positive');

export const groupId = id.brand<'GroupId'>();
export const idList = z.array(id, 'must be a list of ids');
export const channelIdList = z.array(id.brand<'ChannelId'>(), 'must be a list of ids');
export const groupIdList = z.array(groupId, 'must be a list of ids');
export const possibleIdList = z.array(possibleId, 'must be a list of ids');
export const possibleMessageIdList = z.array(possibleId.brand<'MessageId'>(), 'must be a list of ids');
export const userIdList = z.array(id.brand<'UserId'>(), 'must be a list of ids');
