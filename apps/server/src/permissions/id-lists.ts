import type { UserId } from '@waxwing/protocol';
import { z } from 'zod';

const id = z.number('must be an integer').int('must be an integer').positive('must be positive');

/** The id of a user, from outside. */
const userId = id.transform((number) => number as UserId);

export const groupId = id;
export const groupIdList = z.array(id, 'must be a list of ids');
export const userIdList = z.array(userId, 'must be a list of ids');
