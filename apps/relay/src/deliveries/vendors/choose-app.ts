/** Servers and realms (UUIDs) that an app in the apps file serves. Both are empty for the default app. */
export interface ServedRealms {
  readonly serverIds: ReadonlySet<string>;
  readonly realmUuids: ReadonlySet<string>;
}

/** Chooses the app of a realm: the realm's own app, else its server's, else the default; `undefined` if none applies. */
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
