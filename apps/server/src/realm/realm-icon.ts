import type { PushRealm } from '@waxwing/server-push';

/** Where the picture of the organisation is: one that a provider makes of its UUID. */
export function realmIconUrl({ uuid }: Pick<PushRealm, 'uuid'>): string {
  return `https://secure.gravatar.com/avatar/${uuid.replaceAll('-', '')}?d=identicon&version=1`;
}
