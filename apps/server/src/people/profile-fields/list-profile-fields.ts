import { noParameters, operation } from '@waxwing/service/http';
import { z } from 'zod';
import type { ServerContext } from '../../context.js';
import { user } from '../../platform/authentication/authenticate.js';
import { profileFieldRecord, writeProfileField } from './profile-field-record.js';
import { readProfileFields } from './profile-field-store.js';

/** `GET /api/v1/realm/profile_fields`: returns all profile fields, in order. Available to all users and bots. */
export const listProfileFields = operation({
  method: 'GET',
  path: '/api/v1/realm/profile_fields',
  summary: 'Lists custom profile fields, in order.',
  actor: user,
  parameters: noParameters,
  answer: z.object({ custom_fields: z.array(profileFieldRecord) }),
  codes: [],
  handle: async ({ database }: ServerContext) => ({
    custom_fields: (await readProfileFields(database.db)).map(writeProfileField),
  }),
});
