import { describe, expect, it } from 'vitest';
import { eachBackend } from '../../../../support/test-databases.js';
import { sharedOrganisation } from '../../organisation-under-test.js';
import { sendingUnderTest } from './sending-under-test.js';

eachBackend((backend) => {
  const organisation = sharedOrganisation(backend);
  const { send, sent, stored, setPermission } = sendingUnderTest(organisation);

  describe('a direct message', () => {
    it('can be sent to ids or addresses, and reaches all participants', async () => {
      const told = await organisation.watch('second', { event_types: '["message"]' });
      const { email } = organisation.accounts.second;
      const ids = [organisation.id('second')];
      const first = await stored(await sent('member', { type: 'direct', to: ids, content: 'one' }));
      const second = await stored(await sent('member', { type: 'private', to: [email], content: 'two' }));
      const third = await stored(
        await sent('second', { type: 'direct', to: 'member@example.com', content: 'three' }),
      );
      expect([second.conversation_id, third.conversation_id]).toEqual([
        first.conversation_id,
        first.conversation_id,
      ]);
      expect(await told()).toMatchObject([
        {
          message: {
            content: 'one',
            type: 'private',
            subject: '',
            display_recipient: [{ id: organisation.id('member') }, { id: organisation.id('second') }],
          },
        },
        { message: { content: 'two' } },
        { message: { content: 'three' } },
      ]);
    });

    it('requires existing recipients', async () => {
      const refused = async (to: unknown) =>
        (await send('member', { type: 'direct', to, content: 'a' })).body.msg;
      expect(await refused([])).toBe('Message must have recipients');
      expect(await refused([999_999])).toBe('Invalid user ID 999999');
      expect(await refused(['nobody@example.com'])).toBe("Invalid email 'nobody@example.com'");
      expect(await refused(['a\0b'])).toBe('Names must not contain null bytes or lone surrogates');
      expect(await refused(['\ud800'])).toBe('Names must not contain null bytes or lone surrogates');
      expect(await refused([1, 'a'])).toBe(
        'Recipient list may only contain user IDs, or only email addresses',
      );
      expect(await refused(Array.from({ length: 101 }, (_, index) => index))).toBe(
        'At most 100 recipients are allowed',
      );
    });

    it('requires the organization’s permission to start and to take part in a conversation', async () => {
      const nobody = await organisation.roleGroup('nobody');
      const everyone = await organisation.roleGroup('everyone');
      const wish = (to: readonly number[]) => ({ type: 'direct', to, content: 'a' });
      const [begun, fresh] = [[organisation.id('second')], [organisation.id('moderator')]];
      await sent('member', wish(begun));
      await setPermission('realm', 1, 'direct_message_initiator_group', nobody);
      expect((await send('member', wish(begun))).status).toBe(200);
      expect((await send('member', wish(fresh))).body.msg).toBe(
        'You do not have permission to initiate direct message conversations.',
      );
      await setPermission('realm', 1, 'direct_message_initiator_group', everyone);
      await setPermission('realm', 1, 'direct_message_permission_group', nobody);
      expect((await send('member', wish(begun))).body.msg).toBe(
        'Direct messages are disabled in this organization.',
      );
      expect((await send('member', wish([organisation.id('bot'), organisation.id('member')]))).status).toBe(
        200,
      );
      await setPermission(
        'realm',
        1,
        'direct_message_permission_group',
        await organisation.roleGroup('moderators'),
      );
      expect((await send('member', wish(fresh))).status).toBe(200);
      expect((await send('member', wish(begun))).status).toBe(400);
      await setPermission('realm', 1, 'direct_message_permission_group', everyone);
    });
  });
});
