import { beforeEach, describe, expect, it } from 'vitest';
import { eachBackend } from '../../../support/test-databases.js';
import { sharedOrganisation } from '../organisation-under-test.js';
import { addField, fieldsPath, profileFields, removeFields } from './field-on-wire.js';

eachBackend((backend) => {
  const organisation = sharedOrganisation(backend);
  beforeEach(() => removeFields(organisation));

  const listed = () => profileFields(organisation);
  const add = (fields: Record<string, unknown>) => addField(organisation, fields);

  describe('the order of profile fields', () => {
    it('is set by an administrator, and new fields come last', async () => {
      const [first, second] = [await add({ field_type: 1 }), await add({ field_type: 1 })];
      const events = await organisation.watch();
      await organisation.do('administrator', 'PATCH', fieldsPath, { order: [second, first] });
      const fields = await listed();
      expect(fields.map(({ id, order }) => [id, order])).toEqual([
        [second, 0],
        [first, 1],
      ]);
      expect(await events()).toEqual([{ type: 'custom_profile_fields', fields }]);
      const third = await add({ field_type: 1 });
      expect((await listed()).map(({ id }) => id)).toEqual([second, first, third]);
    });

    it('is refused if a field is missing, repeated or unknown', async () => {
      const [first, second] = [await add({ field_type: 1 }), await add({ field_type: 1 })];
      const before = await listed();
      const wrong = [
        [second],
        [second, second],
        [second, first, first],
        [second, 999_999],
        '{}',
        '["1"]',
        'x',
      ];
      for (const order of wrong) {
        const { status, body } = await organisation.ask('owner', 'PATCH', fieldsPath, { order });
        expect([order, status, body.code]).toEqual([order, 400, 'BAD_REQUEST']);
      }
      const { body } = await organisation.ask('moderator', 'PATCH', fieldsPath, { order: [second, first] });
      expect(body.code).toBe('UNAUTHORIZED_PRINCIPAL');
      expect(await listed()).toEqual(before);
    });
  });

  it('concurrent profile updates and reorderings do not deadlock', async () => {
    const ids = [await add({ field_type: 8 }), await add({ field_type: 8 }), await add({ field_type: 8 })];
    const turned = [...ids].reverse();
    const rounds = [1, 2, 3, 4, 5, 6].flatMap((round) => {
      const order = round % 2 === 0 ? ids : turned;
      return [
        organisation.ask('member', 'PATCH', 'users/me/profile_data', {
          data: order.map((id, index) => ({ id, value: (index + round) % 3 === 0 ? null : `${round}` })),
        }),
        organisation.ask('owner', 'PATCH', fieldsPath, { order }),
      ];
    });
    expect((await Promise.all(rounds)).filter(({ status }) => status !== 200)).toEqual([]);
  });
});
