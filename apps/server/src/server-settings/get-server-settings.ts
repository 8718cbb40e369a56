import { anyone, noParameters, operation } from '@waxwing/service/http';
import { z } from 'zod';
import type { ServerContext } from '../context.js';
import { featureLevel, serverVersion } from '../people/realm/feature-level.js';
import { hasPublicAccess } from '../people/realm/public-access.js';
import { realmIconUrl } from '../people/realm/realm-icon.js';
import { readRealmSettings } from '../people/realm/realm-setting-store.js';
import { renderedDescription } from '../people/realm/rendered-description.js';

/** The authentication methods that clients know. The server supports only passwords. */
const authenticationMethods = {
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
};

/**
 * `GET /api/v1/server_settings`: returns the settings that a client needs before sign-in. Requires no authentication.
 */
export const getServerSettings = operation({
  method: 'GET',
  path: '/api/v1/server_settings',
  summary: 'Returns the settings that a client needs before sign-in.',
  actor: anyone,
  parameters: noParameters,
  answer: z.object({
    zulip_feature_level: z.number().int(),
    zulip_version: z.string(),
    zulip_merge_base: z.string(),
    push_notifications_enabled: z.boolean(),
    is_incompatible: z.boolean(),
    email_auth_enabled: z.boolean(),
    require_email_format_usernames: z.boolean(),
    realm_uri: z.string(),
    realm_url: z.string(),
    realm_name: z.string(),
    realm_icon: z.string(),
    /** HTML. */
    realm_description: z.string(),
    realm_web_public_access_enabled: z.boolean(),
    authentication_methods: z.record(z.string(), z.boolean()),
    external_authentication_methods: z.array(z.never()),
  }),
  codes: [],
  async handle(context: ServerContext) {
    const { realm, serverPush } = context;
    const settings = await readRealmSettings(context.database.db);
    return {
      zulip_feature_level: featureLevel,
      ...serverVersion,
      push_notifications_enabled: serverPush.isConfigured,
      is_incompatible: false,
      email_auth_enabled: true,
      require_email_format_usernames: true,
      realm_uri: realm.url,
      realm_url: realm.url,
      realm_name: realm.name,
      realm_icon: realmIconUrl(realm),
      realm_description: renderedDescription(settings.description, realm),
      realm_web_public_access_enabled: hasPublicAccess(context, settings),
      authentication_methods: authenticationMethods,
      external_authentication_methods: [],
    };
  },
});
