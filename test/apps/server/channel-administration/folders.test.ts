import { describe, expect, it } from 'vitest';
import { eachBackend } from '../../../support/test-databases.js';
import { sharedOrganisation } from '../organisation-under-test.js';
import { ChannelUnderTest } from './channel-under-test.js';

eachBackend((backend) => {
  const organisation = sharedOrganisation(backend);
  const path = 'channel_folders';
  const create = async (name = organisation.newName(), description = '') => {
    const made = await organisation.do('owner', 'POST', `${path}/create`, { name, description });
    return { name, id: made.channel_folder_id as number };
  };
  const list = async (fields: Record<string, unknown> = {}) =>
    (await organisation.do('member', 'GET', path, fields)).channel_folders as { id: number }[];

  it('new folders are added at the end and published to all clients', async () => {
    const events = await organisation.watch('guest', { event_types: '["channel_folder"]' });
    const [one, two] = [await create(undefined, '*x*'), await create()];
    const folders = (await list()).filter(({ id }) => [one.id, two.id].includes(id));
    expect(folders).toEqual([
      expect.objectContaining({ ...one, rendered_description: '<p><em>x</em></p>', is_archived: false }),
      expect.objectContaining(two),
    ]);
    expect(await events()).toEqual(
      folders.map((channel_folder) => ({ type: 'channel_folder', op: 'add', channel_folder })),
    );
  });

  it('only administrators can change folders', async () => {
    const { id } = await create();
    const asked = [
      await organisation.ask('moderator', 'POST', `${path}/create`, { name: 'x' }),
      await organisation.ask('moderator', 'PATCH', `${path}/${id}`, { name: 'x' }),
      await organisation.ask('moderator', 'PATCH', path, { order: [] }),
    ];
    expect(asked.map(({ body }) => body.code)).toEqual(Array(3).fill('UNAUTHORIZED_PRINCIPAL'));
  });

  it('a folder cannot have an invalid name or a name in use', async () => {
    const { name } = await create();
    const other = await create();
    for (const [wanted, message] of [
      [' ', "Channel folder name can't be empty."],
      ['x'.repeat(61), 'Channel folder name too long (limit: 60 characters).'],
      ['a\u0007', 'Channel folder name contains an unprintable character.'],
      [name.toUpperCase(), `Channel folder name '${name.toUpperCase()}' is already in use.`],
    ]) {
      const made = await organisation.ask('owner', 'POST', `${path}/create`, { name: wanted });
      const changed = await organisation.ask('owner', 'PATCH', `${path}/${other.id}`, { name: wanted });
      expect([made.body.msg, changed.body.msg, made.body.code]).toEqual([message, message, 'BAD_REQUEST']);
    }
    const unknown = await organisation.ask('owner', 'PATCH', `${path}/9999`, { name: 'x' });
    expect(unknown.body.msg).toBe('Invalid channel folder ID');
  });

  it('a folder can be changed, and can be archived only if it is empty', async () => {
    const { id } = await create();
    const channel = new ChannelUnderTest(organisation);
    await channel.make('owner', { folder_id: id });
    expect((await channel.read()).folder_id).toBe(id);
    const refused = await organisation.ask('owner', 'PATCH', `${path}/${id}`, { is_archived: true });
    expect(refused.body.msg).toBe('You need to remove all the channels from this folder to archive it.');
    await channel.updated('owner', { folder_id: null });
    const events = await organisation.watch('guest', { event_types: '["channel_folder"]' });
    await organisation.do('owner', 'PATCH', `${path}/${id}`, { is_archived: true, description: 'd' });
    await organisation.do('owner', 'PATCH', `${path}/${id}`, { is_archived: true });
    const data = { description: 'd', rendered_description: '<p>d</p>', is_archived: true };
    expect(await events()).toEqual([{ type: 'channel_folder', op: 'update', channel_folder_id: id, data }]);
    expect((await list()).map((folder) => folder.id)).not.toContain(id);
    expect((await list({ include_archived: true })).map((folder) => folder.id)).toContain(id);
  });

  it('folders can be reordered only if all of them are listed', async () => {
    await create();
    const order = (await list({ include_archived: true })).map(({ id }) => id).reverse();
    for (const wrong of [order.slice(1), [...order, order[0]], [...order.slice(1), 9999]]) {
      const { status, body } = await organisation.ask('owner', 'PATCH', path, { order: wrong });
      expect([status, body.msg]).toEqual([400, 'Invalid order mapping.']);
    }
    const events = await organisation.watch('guest', { event_types: '["channel_folder"]' });
    await organisation.do('owner', 'PATCH', path, { order });
    expect((await list({ include_archived: true })).map(({ id }) => id)).toEqual(order);
    expect(await events()).toEqual([{ type: 'channel_folder', op: 'reorder', order }]);
  });

  describe('default channels', () => {
    it('can be added and removed by administrators', async () => {
      const channel = new ChannelUnderTest(organisation);
      await channel.make();
      const events = await organisation.watch('second', { event_types: '["default_streams"]' });
      const fields = { stream_id: channel.id };
      for (const method of ['POST', 'DELETE'] as const) {
        const { body } = await organisation.ask('member', method, 'default_streams', fields);
        expect(body.code).toBe('UNAUTHORIZED_PRINCIPAL');
        const unknown = await organisation.ask('owner', method, 'default_streams', { stream_id: 99_999 });
        expect(unknown.body.msg).toBe('Invalid channel ID');
        await organisation.do('owner', method, 'default_streams', fields);
        await organisation.do('owner', method, 'default_streams', fields);
      }
      expect(await events()).toHaveLength(2);
      await channel.updated('member', { is_private: true });
      const refused = await organisation.ask('owner', 'POST', 'default_streams', fields);
      expect(refused.body.msg).toBe('Private channels cannot be made default.');
    });
  });
});
