/** The servers and realms that an app serves, as UUIDs. Both sets are empty for the default app. */
export interface ServedRealms {
  readonly serverIds: ReadonlySet<string>;
  readonly realmUuids: ReadonlySet<string>;
}

/** Chooses a realm's app: the realm's own, else its server's, else the default app; `undefined` if there is none. */
export function chooseApp<App extends ServedRealms>(
  apps: readonly App[],
  serverId: string,
  realmUuid: string,
): App | undefined {
  return (
    apps.find(({ realmUuids }) => realmUuids.has(realmUuid)) ??
    apps.find(({ serverIds }) => serverIds.has(serverId)) ??
    apps.find(({ serverIds, realmUuids }) => serverIds.size === 0 && realmUuids.size === 0)
  );
}
