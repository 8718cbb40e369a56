import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  type PermissionLevel,
  permissionNames,
  permissionSetting,
} from '#server/people/permissions/permission-settings.js';
import { guardianOf, realmSettings } from '#server/people/realm/realm-settings.js';

const root = join(import.meta.dirname, '../../../..');
const page = readFileSync(join(root, 'docs/realm-settings.md'), 'utf8');

/** Sources that declare settings but do not use them. */
const declarations = [
  'people/realm/realm-settings.ts',
  'people/permissions/permission-settings.ts',
  'people/users/users-state.ts',
];

/** The rows of the table below a heading, without the column that explains the meaning. */
function rowsBelow(heading: string): string[][] {
  const [, section = ''] = page.split(`## ${heading}\n`);
  const [table = ''] = section.split('\n## ');
  return [...table.matchAll(/^\| `(.+)$/gm)].map(([, row = '']) =>
    row
      .split('|')
      .slice(0, -2)
      .map((cell) => cell.replaceAll('`', '').trim()),
  );
}

const taken = (level: PermissionLevel) => (name: never) => {
  const {
    default: standard,
    allowsEveryone,
    allowsNoMembers,
    onlyRoleGroups,
    since,
  } = permissionSetting(level, name);
  const takes =
    onlyRoleGroups?.join(', ') ??
    ['any group', allowsEveryone ? '' : 'not role:everyone', allowsNoMembers ? '' : 'not role:nobody']
      .filter(Boolean)
      .join(', ');
  return [name, standard, takes, ...(level === 'realm' ? [`${guardianOf(name)}s`] : []), String(since)];
};

describe('the settings page', () => {
  it('has each setting with its default, required role and feature level', () => {
    expect(rowsBelow('Settings')).toEqual(
      Object.entries(realmSettings).map(([name, { default: value, changedBy, since }]) => [
        name,
        JSON.stringify(value),
        `${changedBy}s`,
        String(since),
      ]),
    );
  });

  it('marks each setting that the server does not use as stored for clients or refused', () => {
    const folder = join(root, 'apps/server/src');
    const sources = readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts') && !declarations.includes(file))
      .map((file) => readFileSync(join(folder, file), 'utf8'))
      .join('\n');
    const names = [...Object.keys(realmSettings), ...permissionNames('realm')];
    const idle = names.filter((name) => name !== 'description' && !new RegExp(`\\b${name}\\b`).test(sources));
    const told = [...page.matchAll(/^\| `([a-z0-9_]+)`.*(?:; kept for clients: | is refused: )/gm)];
    expect(idle.length).toBeGreaterThan(0);
    expect(told.map(([, name]) => name).sort()).toEqual(idle.sort());
  });

  it.each([
    ['Permissions of the organization', 'realm'],
    ['Permissions of a channel', 'channel'],
    ['Permissions of a group', 'group'],
  ] as const)('has each of the %s with its default and allowed values', (heading, level) => {
    expect(rowsBelow(heading)).toEqual(
      permissionNames(level).map(taken(level) as (name: string) => string[]),
    );
  });
});
