import { optionalJsonParameter } from '@waxwing/service/http';
import { groupSettingValueShape, settingWishShape } from './group-setting-value.js';
import { type PermissionLevel, type PermissionName, permissionNames } from './permission-settings.js';

/** The permissions of a channel or group as they are to be when it is made. */
export function permissionValueParameters<Level extends PermissionLevel>(level: Level) {
  return forEachPermission(level, optionalJsonParameter(groupSettingValueShape));
}

/** Changes of the permissions of a channel or group, each `{new, old}`. */
export function permissionWishParameters<Level extends PermissionLevel>(level: Level) {
  return forEachPermission(level, optionalJsonParameter(settingWishShape));
}

/** The permissions of a level among an operation's parameters. */
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
