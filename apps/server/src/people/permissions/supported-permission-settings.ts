import { z } from 'zod';
import { type PermissionSettings, permissionSettings } from './permission-settings.js';

/** Returns the value of `server_supported_permission_settings` in the register response. */
export function supportedPermissionSettings() {
  const { realm, channel, group } = permissionSettings;
  return {
    realm: configurations(realm, ''),
    stream: configurations(channel, 'channel_creator'),
    group: configurations(group, 'group_creator'),
  };
}

function configurations(
  rows: PermissionSettings,
  creator: string,
): Record<string, z.input<typeof permissionConfiguration>> {
  return Object.fromEntries(
    Object.entries(rows).map(([name, row]) => [
      name,
      {
        require_system_group: row.onlyRoleGroups !== undefined,
        allow_internet_group: false,
        allow_nobody_group: row.allowsNoMembers,
        allow_everyone_group: row.allowsEveryone,
        default_group_name: row.default === 'creator' ? creator : row.default,
        default_for_system_groups: row.defaultForRoleGroups ?? null,
        allowed_system_groups: [...(row.onlyRoleGroups ?? [])],
      },
    ]),
  );
}

/** The definition of a permission in the wire format. */
export const permissionConfiguration = z.object({
  require_system_group: z.boolean(),
  allow_internet_group: z.boolean(),
  allow_nobody_group: z.boolean(),
  allow_everyone_group: z.boolean(),
  default_group_name: z.string(),
  default_for_system_groups: z.string().nullable(),
  allowed_system_groups: z.array(z.string()),
});
