import { expect, it } from 'vitest';
import { eachBackend } from '../../../support/test-databases.js';
import { sharedOrganisation } from '../organisation-under-test.js';

eachBackend((backend) => {
  const organisation = sharedOrganisation(backend, { offersWebPublicChannels: false });

  it('somebody without an account reads nothing where the server offers no public access, whatever the organisation says', async () => {
    await organisation.do('owner', 'PATCH', 'realm', { enable_spectator_access: true });
    const ask = (path: string) => organisation.server.ask(undefined, 'GET', path);
    const { status, body } = await ask('users');
    expect([status, body.code]).toEqual([401, 'UNAUTHORIZED']);
    expect((await ask('server_settings')).body.realm_web_public_access_enabled).toBe(false);
  });
});
