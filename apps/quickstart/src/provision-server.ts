import { runServerCommand } from '@waxwing/server';
import type { Environment } from '@waxwing/service/config';
import { captureJson } from './captured-command.js';
import type { QuickstartPaths } from './quickstart-environments.js';
import { readQuickstartSecrets, writeQuickstartSecrets } from './quickstart-secrets.js';

/** A user as in `quickstart.json`; `role` is the chat API's integer. */
export interface QuickstartUser {
  readonly user_id: number;
  readonly email: string;
  readonly api_key: string;
  readonly role: number;
  readonly is_bot: boolean;
}

const members: readonly { readonly email: string; readonly flags: readonly string[] }[] = [
  { email: 'owner@quickstart.example', flags: ['--name', 'Owner', '--role', 'owner'] },
  { email: 'member@quickstart.example', flags: ['--name', 'Member', '--role', 'member'] },
  {
    email: 'bot@quickstart.example',
    flags: ['--name', 'Bot', '--role', 'member', '--bot', '--owner', 'owner@quickstart.example'],
  },
];

type ListedUser = Omit<QuickstartUser, 'api_key'>;

export async function realmUuidOf(environment: Environment): Promise<string> {
  await captureJson(runServerCommand, environment, ['db', 'migrate']);
  const realm = await captureJson<{ realm_uuid: string }>(runServerCommand, environment, ['realm', 'show']);
  return realm.realm_uuid;
}

/** Adds the organization's owner, member and bot, with the same API keys at every start. */
export async function provisionUsers(
  environment: Environment,
  paths: QuickstartPaths,
): Promise<QuickstartUser[]> {
  const { apiKeys, ...others } = await readQuickstartSecrets(paths.secrets);
  const known = new Set((await listUsers(environment)).map(({ email }) => email));
  for (const { email, flags } of members) {
    if (apiKeys[email] !== undefined && known.has(email)) continue;
    // An earlier start may have been killed after adding the user and before storing the key.
    const user = known.has(email)
      ? await rotateKey(environment, email)
      : await addUser(environment, email, flags);
    apiKeys[email] = user.api_key;
    await writeQuickstartSecrets(paths.secrets, { ...others, apiKeys });
  }
  const listed = await listUsers(environment);
  return members.flatMap(({ email }) =>
    listed
      .filter((user) => user.email === email)
      .map(({ user_id, role, is_bot }) => ({ user_id, email, api_key: apiKeys[email] ?? '', role, is_bot })),
  );
}

const visitorEmail = 'visitor@quickstart.example';

/** Adds the phone's user for the lifetime of this quickstart, so that phones of earlier starts get no notifications. */
export async function addVisitor(environment: Environment): Promise<QuickstartUser> {
  await removeVisitor(environment);
  return addUser(environment, visitorEmail, ['--name', 'Visitor', '--role', 'member']);
}

export async function removeVisitor(environment: Environment): Promise<void> {
  const isThere = (await listUsers(environment)).some(({ email }) => email === visitorEmail);
  if (isThere) await captureJson(runServerCommand, environment, ['users', 'remove', visitorEmail, '--yes']);
}

async function listUsers(environment: Environment): Promise<ListedUser[]> {
  const { users } = await captureJson<{ users: ListedUser[] }>(runServerCommand, environment, [
    'users',
    'list',
  ]);
  return users;
}

function addUser(environment: Environment, email: string, flags: readonly string[]): Promise<QuickstartUser> {
  return captureJson(runServerCommand, environment, ['users', 'add', '--email', email, ...flags]);
}

function rotateKey(environment: Environment, email: string): Promise<QuickstartUser> {
  return captureJson(runServerCommand, environment, ['users', 'rotate-key', email, '--yes']);
}
