import { optionalJsonParameter } from '@waxwing/service/http';
import { z } from 'zod';
import { groupSettingValueShape, settingWishShape } from '../permissions/group-setting-value.js';
import { type PermissionName, permissionNames } from '../permissions/permission-settings.js';

/** Code points; what is longer is refused. */
const maximumDescriptionCharacters = 1024;

export const description = z
  .string()
  .refine(
    (text) => [...text].length <= maximumDescriptionCharacters,
    `must have at most ${maximumDescriptionCharacters} characters`,
  );

/** A group's permissions as they are to be when it is made. */
export const permissionValueParameters = forEachPermission(optionalJsonParameter(groupSettingValueShape));

/** Changes of a group's permissions, each `{new, old}`. */
export const permissionWishParameters = forEachPermission(optionalJsonParameter(settingWishShape));

function forEachPermission<Shape>(shape: Shape): Record<PermissionName<'group'>, Shape> {
  return Object.fromEntries(permissionNames('group').map((name) => [name, shape])) as Record<
    PermissionName<'group'>,
    Shape
  >;
}

/** The permissions among an operation's parameters. */
export function permissionsAmong<Value>(
  parameters: Readonly<Partial<Record<PermissionName<'group'>, Value | undefined>>>,
): Record<PermissionName<'group'>, Value | undefined> {
  return Object.fromEntries(permissionNames('group').map((name) => [name, parameters[name]])) as Record<
    PermissionName<'group'>,
    Value | undefined
  >;
}
