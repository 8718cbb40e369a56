import { z } from 'zod';

const id = z.number('must be an integer').int('must be an integer').positive('must be positive');

export const groupId = id.brand<'GroupId'>();
export const idList = z.array(id, 'must be a list of ids');
export const channelIdList = z.array(id.brand<'ChannelId'>(), 'must be a list of ids');
export const groupIdList = z.array(groupId, 'must be a list of ids');
export const userIdList = z.array(id.brand<'UserId'>(), 'must be a list of ids');
