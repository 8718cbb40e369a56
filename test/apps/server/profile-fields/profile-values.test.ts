import { beforeEach, describe, expect, it } from 'vitest';
import { eachBackend } from '../../../support/test-databases.js';
import { sharedOrganisation } from '../organisation-under-test.js';
import { addField, fieldsPath, options, removeFields } from './field-on-wire.js';

const own = 'users/me/profile_data';

eachBackend((backend) => {
  const organisation = sharedOrganisation(backend);
  beforeEach(() => removeFields(organisation));

  const add = (fields: Record<string, unknown>) => addField(organisation, fields);
  const set = (data: unknown, who: 'member' | 'guest' | 'owner' | 'bot' = 'member') =>
    organisation.ask(who, 'PATCH', own, { data });

  /** The values in the member's profile. */
  async function said(): Promise<unknown> {
    return (await organisation.do('member', 'GET', 'users/me')).profile_data;
  }

  function told(field: Record<string, unknown>): unknown {
    const person = { user_id: organisation.id('member'), custom_profile_field: field };
    return { type: 'realm_user', op: 'update', person };
  }

  describe('a profile value', () => {
    it('is stored, sent to all users in an event, and shown with the users', async () => {
      const [text, list] = [await add({ field_type: 1 }), await add({ field_type: 3, field_data: options })];
      const events = await organisation.watch();
      const { status } = await set([
        { id: text, value: '**Ada**' },
        { id: list, value: 'a' },
      ]);
      expect(status).toBe(200);
      const rendered_value = '<p><strong>Ada</strong></p>';
      const data = { [text]: { value: '**Ada**', rendered_value }, [list]: { value: 'a' } };
      expect(await said()).toEqual(data);
      expect(await events()).toEqual([
        told({ id: text, value: '**Ada**', rendered_value }),
        told({ id: list, value: 'a' }),
      ]);
      const asked = { include_custom_profile_fields: true };
      const { members } = await organisation.do('guest', 'GET', 'users', asked);
      const shown = (members as { user_id: number; is_bot: boolean; profile_data?: unknown }[]).map(
        ({ user_id, profile_data }) => [user_id, profile_data],
      );
      expect(shown).toEqual(
        (members as { user_id: number; is_bot: boolean }[]).map(({ user_id, is_bot }) => [
          user_id,
          is_bot ? undefined : user_id === organisation.id('member') ? data : {},
        ]),
      );
      const { user } = await organisation.do('guest', 'GET', `users/${organisation.id('member')}`, asked);
      expect((user as { profile_data: unknown }).profile_data).toEqual(data);
    });

    it('is published only when it changes, removals before additions', async () => {
      const [first, second, third] = [
        await add({ field_type: 4 }),
        await add({ field_type: 4 }),
        await add({ field_type: 4 }),
      ];
      const value = '2024-02-29';
      await set([
        { id: first, value },
        { id: second, value },
      ]);
      const events = await organisation.watch();
      await set([
        { id: first, value },
        { id: third, value },
        { id: second, value: null },
      ]);
      expect(await events()).toEqual([told({ id: second, value: null }), told({ id: third, value })]);
      expect(await said()).toEqual({ [first]: { value }, [third]: { value } });
    });

    it.each([1, 2, 3, 4, 5, 6, 7, 8])('of type %i is removed by an empty value or null', async (type) => {
      const good: Record<number, unknown> = { 3: 'a', 4: '2024-02-29', 5: 'https://x.example/' };
      const field_data = type === 3 ? options : type === 7 ? { subtype: 'github' } : {};
      const id = await add({ field_type: type, field_data });
      for (const empty of type === 6 ? ['', null, [], '[]'] : ['', null]) {
        const value = type === 6 ? [organisation.id('owner')] : (good[type] ?? 'x');
        expect((await set([{ id, value }])).status).toBe(200);
        expect(Object.keys((await said()) as object)).toEqual([String(id)]);
        expect((await set([{ id, value: empty }])).status).toBe(200);
        expect(await said()).toEqual({});
      }
    });

    it('can also be removed by a list of fields, and only actual removals are published', async () => {
      const [first, second] = [await add({ field_type: 8 }), await add({ field_type: 8 })];
      await set([{ id: first, value: 'she/her' }]);
      const events = await organisation.watch();
      await organisation.do('member', 'DELETE', own, { data: [second, first] });
      expect([await said(), await events()]).toEqual([{}, [told({ id: first, value: null })]]);
    });

    it.each([
      [1, 'é'.repeat(50)],
      [2, 'é'.repeat(500)],
      [4, '0001-01-01'],
      [5, 'http://localhost:8080/a?b=c#d'],
      [7, 'ada'],
      [8, 'they/them'],
    ])('of type %i may be %j', async (type, value) => {
      const id = await add({ field_type: type, field_data: type === 7 ? { subtype: 'github' } : {} });
      expect((await set([{ id, value }])).status).toBe(200);
      expect(await said()).toMatchObject({ [id]: { value } });
    });

    it('is stored as a string if it lists users, whether it was sent as a list or as a string', async () => {
      const id = await add({ field_type: 6 });
      const [owner, guest] = [organisation.id('owner'), organisation.id('guest')];
      for (const value of [[owner, guest, owner], `[${owner},${guest},${owner}]`]) {
        expect((await set([{ id, value }])).status).toBe(200);
        expect(await said()).toEqual({ [id]: { value: `[${owner}, ${guest}, ${owner}]` } });
        await set([{ id, value: null }]);
      }
    });

    it('may be missing although the field is required, even if other values change', async () => {
      const required = await add({ field_type: 1, required: true });
      const free = await add({ field_type: 8 });
      expect((await set([{ id: free, value: 'they' }])).status).toBe(200);
      expect(await said()).toEqual({ [free]: { value: 'they' } });
      await set([{ id: required, value: 'x' }]);
      expect((await set([{ id: required, value: null }])).status).toBe(200);
      expect(await said()).toEqual({ [free]: { value: 'they' } });
    });

    it('has rendered HTML only for short and long text', async () => {
      const values: Record<number, unknown> = { 3: 'a', 4: '2024-02-29', 5: 'https://x.example/' };
      values[6] = [organisation.id('owner')];
      const rendered: number[] = [];
      for (const type of [1, 2, 3, 4, 5, 6, 7, 8]) {
        const field_data = type === 3 ? options : type === 7 ? { subtype: 'github' } : {};
        const id = await add({ field_type: type, field_data });
        expect((await set([{ id, value: values[type] ?? '*x*' }])).status).toBe(200);
        const { value, rendered_value: html } = ((await said()) as Record<string, Record<string, unknown>>)[
          id
        ] as Record<string, unknown>;
        expect(value).toEqual(expect.any(String));
        if (html === undefined) continue;
        expect(html).toBe('<p><em>x</em></p>');
        rendered.push(type);
      }
      expect(rendered).toEqual([1, 2]);
    });

    it('escapes its author’s HTML', async () => {
      const [short, long] = [await add({ field_type: 1 }), await add({ field_type: 2 })];
      const value = '<script>x</script> [a](javascript:x)';
      await set([
        { id: short, value },
        { id: long, value },
      ]);
      const rendered = Object.values((await said()) as Record<string, { rendered_value: string }>);
      expect(rendered).toHaveLength(2);
      for (const { rendered_value: html } of rendered) expect(html).not.toMatch(/<script|href="javascript/);
    });

    it('is deleted with its field and with its option', async () => {
      const [list, kept] = [await add({ field_type: 3, field_data: options }), await add({ field_type: 1 })];
      await set([
        { id: list, value: 'a' },
        { id: kept, value: 'x' },
      ]);
      await organisation.do('owner', 'PATCH', `${fieldsPath}/${list}`, { field_data: { b: options.b } });
      expect(Object.keys((await said()) as object)).toEqual([String(kept)]);
      await organisation.do('owner', 'DELETE', `${fieldsPath}/${kept}`);
      expect(await said()).toEqual({});
    });
  });

  describe('setting a profile value', () => {
    async function refused(data: unknown, who: 'member' | 'bot' = 'member'): Promise<void> {
      const before = await said();
      const events = await organisation.watch();
      const { status, body } = await set(data, who);
      expect([data, status, body.code]).toEqual([data, 400, 'BAD_REQUEST']);
      expect([await said(), await events()]).toEqual([before, []]);
    }

    it.each([
      [1, 'é'.repeat(51)],
      [1, 'a\0b'],
      [1, [1]],
      [2, 'é'.repeat(501)],
      [3, 'c'],
      [3, 'toString'],
      [3, 'Ada'],
      [4, '2023-02-29'],
      [4, '2024-2-9'],
      [4, '29.02.2024'],
      [4, '2024-02-29T00:00:00Z'],
      [4, '0000-01-01'],
      [5, 'javascript:alert(1)'],
      [5, 'x.example'],
      [5, 'https://'],
      [5, 'https://x.example/"onclick="x'],
      [5, 'https://x.example/ a'],
      [5, `https://x.example/${'a'.repeat(2048)}`],
      [6, '9'],
      [6, 'x'],
      [6, '["1"]'],
      [6, [999_999]],
      [6, [-1]],
      [7, 'é'.repeat(51)],
      [8, 'é'.repeat(51)],
    ] as const)('is refused without side effects for type %i and the value %j', async (type, value) => {
      const good = await add({ field_type: 1 });
      const field_data = type === 3 ? options : type === 7 ? { subtype: 'github' } : {};
      const id = await add({ field_type: type, field_data });
      await refused([
        { id: good, value: 'x' },
        { id, value },
      ]);
    });

    it('is refused without side effects if a list of users has a bot or a deactivated user', async () => {
      const id = await add({ field_type: 6 });
      const { server } = organisation;
      const gone = await server.addAccount(`${organisation.newName().replace(' ', '')}@example.com`);
      const { db } = server.server.database;
      await db.updateTable('users').set({ is_active: 0 }).where('id', '=', gone.userId).execute();
      await refused([{ id, value: [organisation.id('owner'), organisation.id('bot')] }]);
      await refused([{ id, value: [organisation.id('owner'), gone.userId] }]);
    });

    it('is refused without side effects if the field is unknown or repeated', async () => {
      const id = await add({ field_type: 1 });
      await refused([
        { id, value: 'x' },
        { id: 999_999, value: 'x' },
      ]);
      await refused([{ id: 999_999, value: null }]);
      await refused([
        { id, value: 'x' },
        { id, value: 'y' },
      ]);
    });

    it.each([
      ['not JSON', 'x'],
      ['not a list', { id: 1, value: 'x' }],
      ['a list of strings', ['x']],
      ['a list without ids', [{ value: 'x' }]],
      ['a list with a string for an id', [{ id: '1', value: 'x' }]],
      ['a list with a number for a value', [{ id: 1, value: 1 }]],
      ['a list without values', [{ id: 1 }]],
    ])('is refused without side effects if the list is %s', async (_what, data) => {
      await refused(data);
    });

    it('removal is refused without side effects for a list that is invalid or has an unknown or repeated field', async () => {
      const id = await add({ field_type: 1 });
      await set([{ id, value: 'x' }]);
      const before = await said();
      for (const data of ['x', {}, ['1'], [id, 999_999], [id, id]]) {
        const { status, body } = await organisation.ask('member', 'DELETE', own, { data });
        expect([data, status, body.code]).toEqual([data, 400, 'BAD_REQUEST']);
      }
      expect(await said()).toEqual(before);
    });

    it('is refused for a bot', async () => {
      await refused([{ id: await add({ field_type: 1 }), value: 'x' }], 'bot');
    });

    it('is refused if only administrators may change the value, except for an administrator’s own value', async () => {
      const id = await add({ field_type: 1, editable_by_user: false });
      await refused([{ id, value: 'x' }]);
      expect((await set([{ id, value: 'x' }], 'owner')).status).toBe(200);
      expect((await organisation.ask('member', 'DELETE', own, { data: [id] })).status).toBe(400);
    });
  });

  it('guests who cannot see all users get no events about others’ profiles', async () => {
    const id = await add({ field_type: 1 });
    const [guest, second] = [await organisation.watch('guest'), await organisation.watch('second')];
    const members = await organisation.roleGroup('members');
    const everyone = await organisation.roleGroup('everyone');
    await organisation.do('owner', 'PATCH', 'realm', { can_access_all_users_group: { new: members } });
    await set([{ id, value: 'x' }]);
    await set([{ id, value: 'mine' }], 'guest');
    await organisation.do('owner', 'PATCH', 'realm', { can_access_all_users_group: { new: everyone } });
    const ofProfiles = (events: unknown[]) =>
      events.filter((event) => (event as { type: string }).type === 'realm_user').length;
    expect([ofProfiles(await guest()), ofProfiles(await second())]).toEqual([1, 2]);
  });
});
