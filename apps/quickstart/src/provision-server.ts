import { runServerCommand } from '@waxwing/server';
import type { Environment } from '@waxwing/service/config';
import { captureJson } from './captured-command.js';
import type { QuickstartPaths } from './quickstart-environments.js';
import { readQuickstartSecrets, writeQuickstartSecrets } from './quickstart-secrets.js';

/** A user as in `quickstart.json`; `role` is an integer of the chat API. */
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
  const users: QuickstartUser[] = [];
  for (const { email, flags } of members) {
    const known = await findUser(environment, email);
    const apiKey = apiKeys[email];
    if (apiKey !== undefined && known !== undefined) {
      const { user_id, role, is_bot } = known;
      users.push({ user_id, email, api_key: apiKey, role, is_bot });
      continue;
    }
    // An earlier start may have been killed after adding the user and before storing the key.
    const { user_id, api_key, role, is_bot } =
      known === undefined ? await addUser(environment, email, flags) : await rotateKey(environment, email);
    apiKeys[email] = api_key;
    await writeQuickstartSecrets(paths.secrets, { ...others, apiKeys });
    users.push({ user_id, email, api_key, role, is_bot });
  }
  return users;
}

const visitorEmail = 'visitor@quickstart.example';

/** Adds a new user for this start's phone, so that phones from earlier starts get no notifications. */
export async function addVisitor(environment: Environment): Promise<QuickstartUser> {
  await removeVisitor(environment);
  return addUser(environment, visitorEmail, ['--name', 'Visitor', '--role', 'member']);
}

export async function removeVisitor(environment: Environment): Promise<void> {
  const visitor = await findUser(environment, visitorEmail);
  if (visitor === undefined) return;
  await captureJson(runServerCommand, environment, ['users', 'remove', visitorEmail, '--yes']);
}

async function findUser(environment: Environment, email: string): Promise<ListedUser | undefined> {
  const listing = ['users', 'list', email];
  const { users } = await captureJson<{ users: ListedUser[] }>(runServerCommand, environment, listing);
  return users.find((user) => user.email === email);
}

function addUser(environment: Environment, email: string, flags: readonly string[]): Promise<QuickstartUser> {
  return captureJson(runServerCommand, environment, ['users', 'add', '--email', email, ...flags]);
}

function rotateKey(environment: Environment, email: string): Promise<QuickstartUser> {
  return captureJson(runServerCommand, environment, ['users', 'rotate-key', email, '--yes']);
}
