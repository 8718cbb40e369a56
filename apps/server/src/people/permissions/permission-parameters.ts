import { optionalJsonParameter } from '@waxwing/service/http';
import { groupSettingValueShape, settingRequestShape } from './group-setting-value.js';
import { type PermissionLevel, type PermissionName, permissionNames } from './permission-settings.js';

/** Returns the permission parameters for creating a channel or group. */
export function permissionValueParameters<Level extends PermissionLevel>(level: Level) {
  return forEachPermission(level, optionalJsonParameter(groupSettingValueShape));
}

/** Returns the permission parameters for updating a channel or group, each `{new, old}`. */
export function permissionRequestParameters<Level extends PermissionLevel>(level: Level) {
  return forEachPermission(level, optionalJsonParameter(settingRequestShape));
}

/** Picks the permissions of a level from an operation's parameters. */
export function permissionsAmong<
  Level extends PermissionLevel,
  Parameters extends Readonly<Partial<Record<PermissionName<Level>, unknown>>>,
>(level: Level, parameters: Parameters): Pick<Parameters, PermissionName<Level>> {
  return Object.fromEntries(permissionNames(level).map((name) => [name, parameters[name]])) as Pick<
    Parameters,
    PermissionName<Level>
  >;
}

function forEachPermission<Level extends PermissionLevel, Shape>(
  level: Level,
  shape: Shape,
): Record<PermissionName<Level>, Shape> {
  return Object.fromEntries(permissionNames(level).map((name) => [name, shape])) as Record<
    PermissionName<Level>,
    Shape
  >;
}
