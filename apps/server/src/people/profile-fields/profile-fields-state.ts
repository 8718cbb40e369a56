import { z } from 'zod';
import { initialState, publicState } from '../../platform/event-queues/initial-state.js';
import { profileFieldRecord, writeProfileField } from './profile-field-record.js';
import { readProfileFields } from './profile-field-store.js';
import { externalAccounts, profileFieldTypes } from './profile-field-types.js';

/** The profile fields and field types. Spectators get only the types. */
export const profileFieldsState = initialState({
  eventType: 'custom_profile_fields',
  shape: z.object({
    custom_profile_fields: z.array(profileFieldRecord),
    custom_profile_field_types: z.record(z.string(), z.object({ id: z.number().int(), name: z.string() })),
  }),
  fetch: async ({ database }) => ({
    custom_profile_fields: (await readProfileFields(database.db)).map(writeProfileField),
    custom_profile_field_types: profileFieldTypes,
  }),
  fetchForSpectator: () =>
    Promise.resolve({ custom_profile_fields: [], custom_profile_field_types: profileFieldTypes }),
});

/** The well-known sites for external accounts. */
export const externalAccountsState = publicState({
  eventType: 'realm',
  shape: z.object({
    realm_default_external_accounts: z.record(
      z.string(),
      z.object({ name: z.string(), text: z.string(), hint: z.string(), url_pattern: z.string() }),
    ),
  }),
  fetch: () => Promise.resolve({ realm_default_external_accounts: externalAccounts }),
});
