import { beforeEach, describe, expect, it } from 'vitest';
import { eachBackend } from '../../../support/test-databases.js';
import { sharedOrganisation } from '../organisation-under-test.js';
import { addField, removeFields } from './field-on-wire.js';

eachBackend((backend) => {
  const organisation = sharedOrganisation(backend);
  beforeEach(() => removeFields(organisation));

  const add = (fields: Record<string, unknown>) => addField(organisation, fields);

  /** The values in the member's profile. */
  async function said(): Promise<unknown> {
    return (await organisation.do('member', 'GET', 'users/me')).profile_data;
  }

  function told(field: Record<string, unknown>): unknown {
    const person = { user_id: organisation.id('member'), custom_profile_field: field };
    return { type: 'realm_user', op: 'update', person };
  }

  describe('a change of another user’s profile by an administrator', () => {
    const change = (who: 'administrator' | 'member', target: number, fields: Record<string, unknown>) =>
      organisation.ask(who, 'PATCH', `users/${target}`, fields);

    it('can include values that the user may not change, and notifies all users', async () => {
      const [fixed, free] = [
        await add({ field_type: 8, editable_by_user: false }),
        await add({ field_type: 8 }),
      ];
      await organisation.do('member', 'PATCH', 'users/me/profile_data', { data: [{ id: free, value: 'x' }] });
      const events = await organisation.watch();
      const profile_data = [
        { id: fixed, value: 'she/her' },
        { id: free, value: '' },
      ];
      const { status } = await change('administrator', organisation.id('member'), { profile_data });
      expect(status).toBe(200);
      expect(await said()).toEqual({ [fixed]: { value: 'she/her' } });
      expect(await events()).toEqual([
        told({ id: free, value: null }),
        told({ id: fixed, value: 'she/her' }),
      ]);
    });

    it('is applied together with all other changes, or not at all', async () => {
      const id = await add({ field_type: 8 });
      const member = organisation.id('member');
      const [good, bad] = [
        { id, value: 'x' },
        { id: 999_999, value: 'x' },
      ];
      const events = await organisation.watch();
      for (const fields of [
        { full_name: 'Another', profile_data: [good, bad] },
        { full_name: '"', profile_data: [good] },
        { profile_data: '{' },
        { profile_data: [{ id }] },
      ]) {
        const { status, body } = await change('administrator', member, fields);
        expect([fields, status, body.code]).toEqual([fields, 400, 'BAD_REQUEST']);
      }
      expect((await change('member', member, { profile_data: [good] })).status).toBe(400);
      expect([await said(), await events()]).toEqual([{}, []]);
    });

    it('is refused for a bot’s profile', async () => {
      const profile_data = [{ id: await add({ field_type: 8 }), value: 'x' }];
      const { status, body } = await change('administrator', organisation.id('bot'), { profile_data });
      expect([status, body.code]).toEqual([400, 'BAD_REQUEST']);
    });
  });
});
