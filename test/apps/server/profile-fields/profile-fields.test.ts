import { beforeEach, describe, expect, it } from 'vitest';
import { eachBackend } from '../../../support/test-databases.js';
import { sharedOrganisation } from '../organisation-under-test.js';
import { addField, fieldsPath, options, profileFields, removeFields } from './field-on-wire.js';

eachBackend((backend) => {
  const organisation = sharedOrganisation(backend);
  let name: string;
  beforeEach(async () => {
    name = organisation.newName();
    await removeFields(organisation);
  });

  const listed = () => profileFields(organisation);
  const add = (fields: Record<string, unknown>) => addField(organisation, fields);

  async function refused(fields: Record<string, unknown>): Promise<unknown> {
    const before = await listed();
    const events = await organisation.watch();
    const { status, body } = await organisation.ask('owner', 'POST', fieldsPath, fields);
    expect([status, body.code]).toEqual([400, 'BAD_REQUEST']);
    expect([await listed(), await events()]).toEqual([before, []]);
    return body.msg;
  }

  describe('creating a profile field', () => {
    it('returns the id, and publishes all fields to all users and in the register response', async () => {
      const events = await organisation.watch();
      const { id } = await organisation.do('administrator', 'POST', fieldsPath, {
        name: ` ${name} `,
        hint: 'What it is',
        field_type: 1,
        display_in_profile_summary: true,
        required: true,
        editable_by_user: false,
        use_for_user_matching: true,
      });
      const field = { id, type: 1, name, hint: 'What it is', field_data: '', order: id, required: true };
      const flags = {
        editable_by_user: false,
        display_in_profile_summary: true,
        use_for_user_matching: true,
      };
      const fields = [{ ...field, ...flags }];
      expect(await listed()).toEqual(fields);
      expect(await events()).toEqual([{ type: 'custom_profile_fields', fields }]);
      const asked = { fetch_event_types: '["custom_profile_fields"]', event_types: '[]' };
      const state = await organisation.do('guest', 'POST', 'register', asked);
      expect(state.custom_profile_fields).toEqual(fields);
      expect(Object.values(state.custom_profile_field_types as object).map(({ id }) => id)).toEqual([
        1, 2, 3, 4, 5, 6, 7, 8,
      ]);
    });

    it('has these defaults: no hint, not in the summary, not required, editable by users', async () => {
      const id = await add({ name, field_type: 5 });
      const said = { id, type: 5, name, hint: '', field_data: '', order: id };
      expect(await listed()).toEqual([
        { ...said, required: false, editable_by_user: true, use_for_user_matching: false },
      ]);
    });

    it.each([1, 2, 4, 5, 6, 8])('stores no data for type %i', async (type) => {
      await add({ field_type: type, field_data: { subtype: 'github' } });
      expect((await listed())[0]).toMatchObject({ type, field_data: '' });
    });

    it('stores the options of a list as a JSON string', async () => {
      await add({ field_type: 3, field_data: options });
      expect(JSON.parse(String((await listed())[0]?.field_data))).toEqual(options);
    });

    it('fills in the known data of a well-known site’s account, and ignores the data of the request', async () => {
      const sent = { name, hint: 'x', field_type: 7 };
      await add({
        ...sent,
        field_data: { subtype: 'github', url_pattern: 'https://x.example/%(username)s' },
      });
      expect((await listed())[0]).toMatchObject({
        name: 'GitHub username',
        hint: '',
        field_data: '{"subtype":"github"}',
      });
      const asked = { fetch_event_types: '["realm"]', event_types: '[]' };
      const state = await organisation.do('guest', 'POST', 'register', asked);
      expect(state.realm_default_external_accounts).toMatchObject({
        github: { name: 'GitHub username', url_pattern: 'https://github.com/%(username)s' },
      });
    });

    it('requires no name or hint for an account of a well-known site', async () => {
      await organisation.do('owner', 'POST', fieldsPath, {
        field_type: 7,
        field_data: { subtype: 'github' },
      });
      expect((await listed())[0]).toMatchObject({ name: 'GitHub username', hint: '' });
    });

    it('returns only the id of the new field', async () => {
      const answer = await organisation.do('owner', 'POST', fieldsPath, { name, field_type: 1 });
      const [field] = await listed();
      expect(answer).toEqual({ result: 'success', msg: '', id: field?.id });
      expect(Number.isInteger(answer.id)).toBe(true);
    });

    it('stores the URL pattern of a custom account', async () => {
      const data = { subtype: 'custom', url_pattern: 'https://%(username)s.example.com' };
      await add({ name, field_type: 7, field_data: data });
      expect(JSON.parse(String((await listed())[0]?.field_data))).toEqual(data);
    });

    it('is allowed only for administrators', async () => {
      for (const who of ['moderator', 'member', 'guest', 'bot'] as const) {
        const { status, body } = await organisation.ask(who, 'POST', fieldsPath, { name, field_type: 1 });
        expect([who, status, body.code]).toEqual([who, 400, 'UNAUTHORIZED_PRINCIPAL']);
      }
      expect(await listed()).toEqual([]);
    });

    it('refuses another field’s name, but accepts this name in another letter case', async () => {
      await add({ name, field_type: 1 });
      expect(await refused({ name: ` ${name}`, field_type: 2 })).toContain('already exists');
      await add({ name: name.toUpperCase(), field_type: 1 });
    });

    it('refuses a second account of the same well-known site', async () => {
      await add({ field_type: 7, field_data: { subtype: 'twitter' } });
      await refused({ field_type: 7, field_data: { subtype: 'twitter' } });
    });

    it('succeeds for only one of several concurrent requests with the same name', async () => {
      const answers = await Promise.all(
        [1, 2, 5].map((type) => organisation.ask('owner', 'POST', fieldsPath, { name, field_type: type })),
      );
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 400, 400]);
    });

    it('allows at most two fields in the summary, even in concurrent requests', async () => {
      const wanted = { field_type: 1, display_in_profile_summary: true };
      await add(wanted);
      const answers = await Promise.all(
        [1, 2, 3, 4].map((each) =>
          organisation.ask('owner', 'POST', fieldsPath, { ...wanted, name: `${name} ${each}` }),
        ),
      );
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 400, 400, 400]);
      expect((await listed()).filter((field) => field.display_in_profile_summary)).toHaveLength(2);
    });

    it('requires a type', async () => {
      const { status, body } = await organisation.ask('owner', 'POST', fieldsPath, { name });
      expect([status, body.code, body.var_name]).toEqual([400, 'REQUEST_VARIABLE_MISSING', 'field_type']);
    });

    it.each([
      ['no name', { name: undefined }],
      ['a blank name', { name: ' \t ' }],
      ['a name that is too long', { name: 'é'.repeat(41) }],
      ['a hint that is too long', { hint: 'é'.repeat(81) }],
      ['type 0', { field_type: 0 }],
      ['type 9', { field_type: 9 }],
      ['a type that is not a number', { field_type: 'text' }],
      ['a summary that is neither true nor false', { display_in_profile_summary: 'yes' }],
      ['a requirement that is neither true nor false', { required: '1' }],
      ['a permission that is neither true nor false', { editable_by_user: 'no' }],
      ['matching that is neither true nor false', { use_for_user_matching: 'no' }],
      ['long text in the summary', { field_type: 2, display_in_profile_summary: true }],
      ['people in the summary', { field_type: 6, display_in_profile_summary: true }],
      ['data that is no JSON', { field_data: '{' }],
      ['data that is a list', { field_data: [] }],
      ['a list without data', { field_type: 3 }],
      ['a list without options', { field_type: 3, field_data: {} }],
      ['an option with a blank key', { field_type: 3, field_data: { ' ': options.a } }],
      [
        'an option that no object keeps',
        { field_type: 3, field_data: '{"__proto__":{"text":"a","order":"1"}}' },
      ],
      ['an option that is a string', { field_type: 3, field_data: { a: 'Ada' } }],
      ['an option without order', { field_type: 3, field_data: { a: { text: 'Ada' } } }],
      ['an option with a blank text', { field_type: 3, field_data: { a: { text: ' ', order: '1' } } }],
      ['an option whose order is a number', { field_type: 3, field_data: { a: { text: 'Ada', order: 1 } } }],
      ['an option with more', { field_type: 3, field_data: { a: { ...options.a, x: '' } } }],
      ['two options with one text', { field_type: 3, field_data: { a: options.a, b: options.a } }],
      ['an account without data', { field_type: 7 }],
      ['an account of an unknown site', { field_type: 7, field_data: { subtype: 'toString' } }],
      ['an account with more', { field_type: 7, field_data: { subtype: 'github', x: '' } }],
      ['another account without a pattern', { field_type: 7, field_data: { subtype: 'custom' } }],
      ...[
        'https://x.example/',
        'https://x.example/%(username)s/%(username)s',
        'javascript:%(username)s',
        'x.example/%(username)s',
        'https://x.example/"onclick="%(username)s',
      ].map((url_pattern): [string, Record<string, unknown>] => [
        `the pattern ${url_pattern}`,
        { field_type: 7, field_data: { subtype: 'custom', url_pattern } },
      ]),
    ] as [string, Record<string, unknown>][])(
      'is refused without side effects for %s',
      async (_what, wrong) => {
        const { name: given = name, ...rest }: Record<string, unknown> = { field_type: 1, ...wrong };
        const named = 'name' in wrong && wrong.name === undefined ? {} : { name: given };
        await refused({ ...named, ...rest });
      },
    );
  });

  describe('changing a profile field', () => {
    const change = (id: number, fields: Record<string, unknown>) =>
      organisation.ask('owner', 'PATCH', `${fieldsPath}/${id}`, fields);

    it('changes only the given properties, and publishes all fields to all clients', async () => {
      const id = await add({ name, hint: 'old', field_type: 3, field_data: options });
      const [before] = await listed();
      const events = await organisation.watch();
      await organisation.do('administrator', 'PATCH', `${fieldsPath}/${id}`, {
        hint: 'new',
        required: true,
        display_in_profile_summary: true,
      });
      const fields = [{ ...before, hint: 'new', required: true, display_in_profile_summary: true }];
      expect(await listed()).toEqual(fields);
      expect(await events()).toEqual([{ type: 'custom_profile_fields', fields }]);
    });

    it('keeps the field’s own name and summary slot, and cannot take a third slot', async () => {
      const wanted = { field_type: 1, display_in_profile_summary: true };
      const id = await add({ ...wanted, name });
      await add(wanted);
      const third = await add({ field_type: 1 });
      expect((await change(id, { name, display_in_profile_summary: true })).status).toBe(200);
      const before = await listed();
      const answers = await Promise.all([
        change(third, { display_in_profile_summary: true }),
        change(third, { name }),
      ]);
      expect(answers.map(({ body }) => body.code)).toEqual(['BAD_REQUEST', 'BAD_REQUEST']);
      expect(await listed()).toEqual(before);
    });

    it('gives the last summary slot to one of several concurrent requests', async () => {
      await add({ field_type: 1, display_in_profile_summary: true });
      const ids = [await add({ field_type: 1 }), await add({ field_type: 4 }), await add({ field_type: 5 })];
      const answers = await Promise.all(ids.map((id) => change(id, { display_in_profile_summary: true })));
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 400, 400]);
    });

    it('changes only the flags of a well-known site’s account', async () => {
      const id = await add({ field_type: 7, field_data: { subtype: 'github' } });
      const before = await listed();
      for (const wrong of [{ name }, { hint: 'x' }, { field_data: { subtype: 'twitter' } }]) {
        const { status, body } = await change(id, wrong);
        expect([status, body.code]).toEqual([400, 'BAD_REQUEST']);
      }
      expect(await listed()).toEqual(before);
      const same = { name: 'GitHub username', hint: '', field_data: { subtype: 'github' } };
      expect((await change(id, { ...same, required: true })).status).toBe(200);
    });

    it.each([
      ['a blank name', { name: ' ' }],
      ['a long hint', { hint: 'x'.repeat(81) }],
      ['bad data', { field_data: {} }],
      ['a value that is not a boolean', { required: 'maybe' }],
    ])('fails for %s, and keeps the field unchanged', async (_what, wrong) => {
      const id = await add({ field_type: 3, field_data: options });
      const before = await listed();
      const { status, body } = await change(id, { editable_by_user: false, ...wrong });
      expect([status, body.code]).toEqual([400, 'BAD_REQUEST']);
      expect(await listed()).toEqual(before);
    });

    it.each(['PATCH', 'DELETE'] as const)(
      'by %s is allowed only for administrators and existing fields',
      async (method) => {
        const id = await add({ field_type: 1 });
        const before = await listed();
        for (const who of ['moderator', 'member', 'guest', 'bot'] as const) {
          const { body } = await organisation.ask(who, method, `${fieldsPath}/${id}`, { hint: 'x' });
          expect([who, body.code]).toEqual([who, 'UNAUTHORIZED_PRINCIPAL']);
        }
        for (const wrong of ['0', '999999', 'abc']) {
          const { body } = await organisation.ask('owner', method, `${fieldsPath}/${wrong}`, { hint: 'x' });
          expect([wrong, body.code]).toEqual([wrong, 'BAD_REQUEST']);
        }
        expect(await listed()).toEqual(before);
      },
    );
  });

  it('removing a field is published to all clients', async () => {
    const ids = [await add({ field_type: 1 }), await add({ field_type: 2 })];
    const events = await organisation.watch();
    await organisation.do('administrator', 'DELETE', `${fieldsPath}/${ids[0]}`);
    const fields = await listed();
    expect(fields.map(({ id }) => id)).toEqual([ids[1]]);
    expect(await events()).toEqual([{ type: 'custom_profile_fields', fields }]);
  });
});
