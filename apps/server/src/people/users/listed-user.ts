import type { z } from 'zod';
import { userRecord } from './user-record.js';

/** A user in the lists of active and inactive users. */
export const listedUser = userRecord.omit({ is_active: true });

export type ListedUser = z.input<typeof listedUser>;
