import { describe, expect, it } from 'vitest';
import { featureLevel } from '#server/people/realm/feature-level.js';
import { eachBackend } from '../../../support/test-databases.js';
import { sharedOrganisation } from '../organisation-under-test.js';

eachBackend((backend) => {
  const organisation = sharedOrganisation(backend, { offersWebPublicChannels: true });
  const ask = (path: string) => organisation.server.ask(undefined, 'GET', path);

  describe('the server settings for clients before sign-in', () => {
    it('are complete and require no credentials', async () => {
      const { status, body } = await ask('server_settings');
      expect([status, body]).toEqual([
        200,
        {
          result: 'success',
          msg: '',
          zulip_feature_level: featureLevel,
          zulip_version: expect.stringMatching(/^\d+\.\d+/),
          zulip_merge_base: expect.stringMatching(/^\d+\.\d+/),
          push_notifications_enabled: false,
          is_incompatible: false,
          email_auth_enabled: true,
          require_email_format_usernames: true,
          realm_web_public_access_enabled: false,
          realm_uri: 'https://chat.example.com',
          realm_url: 'https://chat.example.com',
          realm_name: 'Example',
          realm_description: '',
          realm_icon: expect.stringMatching(/^https:/),
          authentication_methods: {
            password: true,
            dev: false,
            email: true,
            ldap: false,
            remoteuser: false,
            github: false,
            azuread: false,
            gitlab: false,
            google: false,
            apple: false,
            discord: false,
            saml: false,
            'openid connect': false,
          },
          external_authentication_methods: [],
        },
      ]);
    });

    it('include the description as safe HTML, and whether there is public access', async () => {
      await organisation.do('owner', 'PATCH', 'realm', {
        description: '**Us** <script>alert(1)</script>',
        enable_spectator_access: true,
      });
      const { body } = await ask('server_settings');
      await organisation.do('owner', 'PATCH', 'realm', { description: '', enable_spectator_access: false });
      expect(body.realm_description).toBe('<p><strong>Us</strong> &lt;script&gt;alert(1)&lt;/script&gt;</p>');
      expect(body.realm_web_public_access_enabled).toBe(true);
    });

    it('list unknown parameters', async () => {
      const { body } = await ask('server_settings?x=1');
      expect(body.ignored_parameters_unsupported).toEqual(['x']);
    });

    it('say whether push notifications are enabled', async () => {
      const { ServerUnderTest } = await import('../server-under-test.js');
      const withRelay = await ServerUnderTest.start();
      const { body } = await withRelay.ask(undefined, 'GET', 'server_settings');
      await withRelay.close();
      expect(body.push_notifications_enabled).toBe(true);
    });
  });

  describe('the emoji names', () => {
    it('are available at the URL from the register response, cacheable and without credentials', async () => {
      const { server_emoji_data_url: url } = await organisation.do('member', 'POST', 'register');
      const { pathname } = new URL(String(url));
      const { status, body, headers } = await organisation.server.send({ method: 'GET', url: pathname });
      expect(status).toBe(200);
      const names = body.code_to_names as Record<string, string[]>;
      expect(names['1f642']?.[0]).toBe('smile');
      expect(headers['cache-control']).toContain('public');
      const again = await organisation.server.server.app.inject({
        method: 'GET',
        url: pathname,
        headers: { 'if-none-match': String(headers.etag) },
      });
      expect(again.statusCode).toBe(304);
    });
  });
});
