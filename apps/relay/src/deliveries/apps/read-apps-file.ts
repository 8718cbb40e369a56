import { dirname, resolve } from 'node:path';
import { parseJson, uuid } from '@waxwing/protocol';
import { ConfigurationError, isPrintablePath, readPrivateFile } from '@waxwing/service/config';
import { z } from 'zod';
import { webPushAppName } from '../../keyring/ring/web-push-app-name.js';
import type { ApnsApp } from '../vendors/apns/app.js';
import type { FcmApp } from '../vendors/fcm/app.js';
import type { WebPushApp } from '../vendors/webpush/app.js';
import { describeJsonMistake, describeMistakes } from './describe-shape.js';
import { readApnsKey, readServiceAccount } from './read-credentials.js';
import { listOfApps, recognizeFile } from './recognize-file.js';

/** All vendor credentials of the relay. */
export interface AppSet {
  readonly fcm: readonly FcmApp[];
  readonly apns: readonly ApnsApp[];
  readonly webpush: readonly WebPushApp[];
}

const bundleId = z.string().regex(/^[.a-zA-Z0-9-]{1,255}$/, 'must be a bundle id such as org.example.App');
const tenCharacters = z
  .string()
  .regex(/^[A-Z0-9]{10}$/, 'must be ten characters, each A to Z or 0 to 9, as Apple shows it');

const fcmEntry = z.strictObject({
  project: z.string().min(1).optional(),
  service_account_file: z.string().min(1),
  address_by: z.enum(['token', 'fid']).default('token'),
  android_v2: z.boolean().default(false),
  servers: z.array(uuid).default([]),
  realms: z.array(uuid).default([]),
});
const apnsEntry = z.strictObject({
  team_id: tenCharacters,
  key_id: tenCharacters,
  key_file: z.string().min(1),
  topics: z.union([z.literal('*'), z.array(bundleId).min(1)], 'must be "*" or a list of bundle ids'),
  filtering_entitlement: z.boolean().default(false),
});
const contactUrl = z
  .string()
  .regex(
    /^(?:mailto:[^\s@<>"]+@[^\s@<>"]+|https:\/\/[^\s"]+)$/,
    'must be a mailto: or https: URL by which push services reach you',
  )
  .max(255);
const pushHost = z
  .string()
  .regex(
    /^(?:\*\.)?[a-z0-9-]+(?:\.[a-z0-9-]+)*(?::[1-9]\d{0,4})?$/,
    'must be a host in lower case such as push.example, *.push.example or push.example:8443',
  );
const webPushEntry = z.strictObject({
  name: z.string().regex(webPushAppName, 'must be 1 to 64 letters, digits, dots, dashes and underscores'),
  contact: contactUrl,
  servers: z.array(uuid).default([]),
  realms: z.array(uuid).default([]),
  hosts: z.union([z.literal('*'), z.array(pushHost).min(1)], 'must be "*" or a list of hosts'),
});
const appsFile = z.strictObject({
  fcm: z.array(fcmEntry).default([]),
  apns: z.array(apnsEntry).default([]),
  webpush: z.array(webPushEntry).default([]),
});
const fields = {
  '': Object.keys(appsFile.shape),
  fcm: Object.keys(fcmEntry.shape),
  apns: Object.keys(apnsEntry.shape),
  webpush: Object.keys(webPushEntry.shape),
};

/**
 * Reads the apps file and the key files that it names. Paths are relative to the apps file. Each file must be
 * accessible only to its owner.
 * @throws ConfigurationError that lists every problem.
 */
export async function readAppsFile(path: string): Promise<AppSet> {
  const shape = parseShape(path, await readText(path));
  const folder = dirname(resolve(path));
  const problems: string[] = [];
  const collect = async <T>(read: Promise<T>): Promise<T[]> => {
    try {
      return [await read];
    } catch (error) {
      if (!(error instanceof ConfigurationError)) throw error;
      problems.push(...error.problems);
      return [];
    }
  };
  const fcm: FcmApp[] = [];
  const apns: ApnsApp[] = [];
  const usable: z.infer<typeof appsFile> = { fcm: [], apns: [], webpush: shape.webpush };
  for (const entry of shape.fcm) {
    const [app] = await collect(readFcmApp(folder, entry));
    if (app === undefined) continue;
    fcm.push(app);
    usable.fcm.push(entry);
  }
  for (const entry of shape.apns) {
    const [app] = await collect(readApnsApp(folder, entry));
    if (app === undefined) continue;
    apns.push(app);
    usable.apns.push(entry);
  }
  problems.push(...findContradictions(path, usable));
  if (problems.length > 0) throw new ConfigurationError(problems);
  return { fcm, apns, webpush: shape.webpush.map(toWebPushApp) };
}

async function readText(path: string): Promise<string> {
  try {
    return await readPrivateFile(path, 'the apps and their vendor credentials');
  } catch (error) {
    const { cause } = error as Error;
    if ((cause as NodeJS.ErrnoException | undefined)?.code !== 'ENOENT' || !isPrintablePath(path))
      throw error;
    throw new ConfigurationError(
      [`The apps file ${path} does not exist: create it, or unset RELAY_APPS_FILE to deliver nothing.`],
      { cause },
    );
  }
}

function parseShape(path: string, text: string): z.infer<typeof appsFile> {
  const foreign = recognizeFile(text);
  if (foreign !== undefined && foreign !== listOfApps) {
    throw new ConfigurationError([
      `The apps file ${path} is ${foreign}: write {"fcm": […], "apns": […], "webpush": […]} with the apps and the paths of their credentials.`,
    ]);
  }
  let value: unknown;
  try {
    value = parseJson(text);
  } catch {
    throw new ConfigurationError([`The apps file ${path} ${describeJsonMistake(text)}`]);
  }
  const parsed = appsFile.safeParse(value);
  if (!parsed.success) {
    throw new ConfigurationError(describeMistakes({ path, text }, parsed.error.issues, fields));
  }
  const { fcm, apns, webpush } = parsed.data;
  if (fcm.length + apns.length + webpush.length === 0) {
    throw new ConfigurationError([
      `The apps file ${path} lists no app: add an entry to "fcm", "apns" or "webpush".`,
    ]);
  }
  return parsed.data;
}

async function readFcmApp(folder: string, entry: z.infer<typeof fcmEntry>): Promise<FcmApp> {
  const file = resolve(folder, entry.service_account_file);
  const account = await readServiceAccount(file, entry.service_account_file);
  return {
    vendor: 'fcm',
    ...account,
    projectId: entry.project ?? account.projectId,
    addressBy: entry.address_by,
    usesAndroidV2: entry.android_v2,
    serviceAccountFile: file,
    serverIds: new Set(entry.servers),
    realmUuids: new Set(entry.realms),
  };
}

async function readApnsApp(folder: string, entry: z.infer<typeof apnsEntry>): Promise<ApnsApp> {
  const file = resolve(folder, entry.key_file);
  const { team_id: teamId, key_id: keyId, topics } = entry;
  return {
    vendor: 'apns',
    teamId,
    keyId,
    ...(await readApnsKey(file, { teamId, keyId }, entry.key_file)),
    keyFile: file,
    topics: topics === '*' ? '*' : new Set(topics),
    hasFilteringEntitlement: entry.filtering_entitlement,
  };
}

function toWebPushApp({ name, contact, servers, realms, hosts }: z.infer<typeof webPushEntry>): WebPushApp {
  return {
    vendor: 'webpush',
    name,
    contact,
    hosts,
    serverIds: new Set(servers),
    realmUuids: new Set(realms),
  };
}

/** Describes each realm, server, topic, name or default that the apps file assigns more than once. */
function findContradictions(path: string, { fcm, apns, webpush }: z.infer<typeof appsFile>): string[] {
  const claims = [
    ...claimedRealms(fcm, 'Firebase project'),
    ...apns.flatMap(({ topics }) =>
      topics === '*' ? ['every other topic ("*")'] : topics.map((topic) => `the topic ${topic}`),
    ),
    ...claimedRealms(webpush, 'Web Push app'),
    ...webpush.map(({ name }) => `the Web Push name ${name}`),
  ];
  const twice = new Set(claims.filter((claim, index) => claims.indexOf(claim) !== index));
  return [...twice].map((claim) => `The apps file ${path} claims ${claim} more than once: keep one.`);
}

function claimedRealms(
  entries: readonly { readonly servers: readonly string[]; readonly realms: readonly string[] }[],
  what: string,
): string[] {
  return [
    ...entries
      .filter(({ servers, realms }) => servers.length + realms.length === 0)
      .map(() => `the default ${what} (an entry without servers and realms)`),
    ...entries.flatMap(({ servers }) => servers.map((id) => `the ${what} of server ${id}`)),
    ...entries.flatMap(({ realms }) => realms.map((id) => `the ${what} of realm ${id}`)),
  ];
}
