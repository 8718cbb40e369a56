import { expect, it } from 'vitest';
import { eachBackend } from '../../../support/test-databases.js';
import { sharedOrganisation } from '../organisation-under-test.js';
import { usersOnWire } from './users-on-wire.js';

eachBackend((backend) => {
  const organisation = sharedOrganisation(backend);
  const { read, show } = usersOnWire(organisation);

  it('the caller’s own profile has the real address and avatar, regardless of visibility', async () => {
    await show('member', 'nobody');
    const { result: _, msg: __, ...me } = await organisation.do('member', 'GET', 'users/me');
    expect(me).toEqual({
      ...(await read('member', 'member', { include_custom_profile_fields: true })),
      max_message_id: -1,
    });
    expect(me).toMatchObject({ delivery_email: 'member@example.com', avatar_url: expect.any(String) });
  });
});
