import type { PushRealm } from '@waxwing/server-push';

/** Returns the URL of the organization's icon, which a provider generates from its UUID. */
export function realmIconUrl({ uuid }: Pick<PushRealm, 'uuid'>): string {
  return `https://secure.gravatar.com/avatar/${uuid.replaceAll('-', '')}?d=identicon&version=1`;
}
