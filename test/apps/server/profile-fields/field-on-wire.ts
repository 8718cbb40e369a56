import type { OrganisationUnderTest } from '../organisation-under-test.js';

export const fieldsPath = 'realm/profile_fields';

/** A profile field in responses and events. */
export interface FieldOnWire {
  readonly id: number;
  readonly name: string;
  readonly [part: string]: unknown;
}

export async function profileFields(organisation: OrganisationUnderTest): Promise<FieldOnWire[]> {
  return (await organisation.do('guest', 'GET', fieldsPath)).custom_fields as FieldOnWire[];
}

/** Adds a field. Returns its ID. */
export async function addField(
  organisation: OrganisationUnderTest,
  fields: Record<string, unknown>,
): Promise<number> {
  const all = { name: organisation.newName(), ...fields };
  return (await organisation.do('owner', 'POST', fieldsPath, all)).id as number;
}

/** Removes all fields, so that names and summary slots are free. */
export async function removeFields(organisation: OrganisationUnderTest): Promise<void> {
  for (const { id } of await profileFields(organisation)) {
    await organisation.do('owner', 'DELETE', `${fieldsPath}/${id}`);
  }
}

export const options = { a: { text: 'Ada', order: '1' }, b: { text: 'Bob', order: '2' } };
