import { createWriteStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { readRelayEnvironment, startRelay } from '@waxwing/relay';
import { readServerEnvironment, startServer } from '@waxwing/server';
import { type Environment, makePrivateFolder, writePrivateFile } from '@waxwing/service/config';
import { type Closers, openInOrder, type RunningService } from '@waxwing/service/lifecycle';
import { createLogger, type Log } from '@waxwing/service/logging';
import { startVendors, type Vendors } from '@waxwing/vendors';
import { introduce, introducePhone, sendingCommand } from './introduce.js';
import { type JourneyUrls, makeJourney, makeJourneyWithoutRelay } from './journey.js';
import { createJourneyPhone, type JourneyPhone } from './journey-phone.js';
import { lockDataDirectory } from './lock-data-directory.js';
import { Narrator } from './narrator.js';
import { startPage } from './page/start-page.js';
import { provisionChannel, provisionGoingOn, sendToChannel } from './provision-chat.js';
import {
  provisionRelay,
  provisionServerAtRelay,
  publicKeysOf,
  type RelayPublicKeys,
  vapidKeyOf,
} from './provision-relay.js';
import {
  addVisitor,
  provisionUsers,
  type QuickstartUser,
  realmUuidOf,
  removeVisitor,
} from './provision-server.js';
import {
  host,
  type QuickstartPaths,
  quickstartPaths,
  relayEnvironment,
  serverEnvironment,
} from './quickstart-environments.js';
import { writeQuickstartFile } from './quickstart-file.js';
import type { QuickstartOptions } from './quickstart-options.js';
import { refuseTakenPorts } from './refuse-taken-ports.js';
import { watchPhone } from './watch-phone.js';

/** The running parts of the quickstart, and how to reach them. */
interface RunningParts {
  readonly vendors: Vendors;
  readonly relay: {
    readonly url: string;
    readonly environment: Environment;
    readonly serverId: string;
    readonly serverKey: string;
    readonly publicKeys: RelayPublicKeys;
    readonly vapidPublicKey: string;
  };
  readonly server: {
    readonly url: string;
    readonly environment: Environment;
    readonly realmUuid: string;
    readonly users: readonly QuickstartUser[];
  };
}

/** Results of the journey, for the commands that the user can try next. */
interface Shown {
  readonly visitor: QuickstartUser;
  readonly phone: JourneyPhone;
  readonly mention: string;
  /** The owner's message in the channel. */
  readonly messageId: number;
}

/**
 * Starts vendors, relay and server, runs the journey, and then writes `quickstart.json`. On failure, stops everything
 * that it started, but not another quickstart in the same data directory.
 * @throws ConfigurationError for a problem that the user can fix, such as a port in use.
 */
export async function startQuickstart(options: QuickstartOptions): Promise<RunningService> {
  const paths = quickstartPaths(options.dataDir);
  makePrivateFolder(options.dataDir);
  return openInOrder(async (closers) => {
    closers.push(await lockDataDirectory(options.dataDir, paths.lock));
    await rm(paths.quickstartJson, { force: true });
    await refuseTakenPorts(host, options.ports);
    const narrator = new Narrator();
    narrator.title('Starting a relay, a server, and stand-ins for Google and Apple on this machine');
    const parts = await startParts(options, paths, closers);
    closers.push(() => removeVisitor(parts.server.environment));
    const shown = await show(options, paths, parts, narrator);
    await writeQuickstartFile(paths.quickstartJson, parts);
    if (!options.once) await keepRunning(options, paths, parts, { shown, narrator, closers });
    return {};
  });
}

async function startParts(
  options: QuickstartOptions,
  paths: QuickstartPaths,
  closers: Closers,
): Promise<RunningParts> {
  const { ports } = options;
  const vendors = await startVendors({
    dataDir: paths.vendors,
    host,
    httpPort: ports.vendorsHttp,
    apnsProductionPort: ports.apnsProduction,
    apnsSandboxPort: ports.apnsSandbox,
    webPushPort: ports.webPush,
  });
  closers.push(() => vendors.close());

  const environment = relayEnvironment(options, paths, { ...vendors.urls, ...vendors.credentials });
  await provisionRelay(environment, paths, vendors);
  const relay = await startRelay(readRelayEnvironment(environment), {
    log: logTo(paths.relayLog, 'waxwing-relay', closers),
  });
  closers.push(() => relay.close());

  const realmUuid = await realmUuidOf(serverEnvironment(options, paths));
  const credentials = await provisionServerAtRelay(environment, paths, realmUuid);
  const relayOfServer = options.withRelay ? { url: relay.url, serverId: credentials.serverId } : undefined;
  const ofServer = serverEnvironment(options, paths, relayOfServer);
  const users = await provisionUsers(ofServer, paths);
  const server = await startServer(readServerEnvironment(ofServer), {
    log: logTo(paths.serverLog, 'waxwing-server', closers),
  });
  closers.push(() => server.close());
  const publicKeys = await publicKeysOf(environment);
  const vapidPublicKey = await vapidKeyOf(environment);
  return {
    vendors,
    relay: { url: relay.url, environment, ...credentials, publicKeys, vapidPublicKey },
    server: { url: server.url, environment: ofServer, realmUuid, users },
  };
}

async function show(
  { withRelay }: QuickstartOptions,
  paths: QuickstartPaths,
  { vendors, relay, server }: RunningParts,
  narrator: Narrator,
): Promise<Shown> {
  const visitor = await addVisitor(server.environment);
  const userIds = [...server.users, visitor].map(({ user_id }) => user_id);
  await provisionChannel(server.url, ownerOf(server), userIds);
  const phone = await createJourneyPhone({
    realmUrl: server.url,
    userId: visitor.user_id,
    email: visitor.email,
    apiKey: visitor.api_key,
    bouncerPublicKey: relay.publicKeys.bouncer_public_key,
  });
  const places = urlsOf(paths, vendors);
  // Includes the id, because visitors from earlier starts have the same name.
  const mention = `@**Visitor|${visitor.user_id}**`;
  const content = `Hello ${mention}, this is for your eyes alone.`;
  const send = () => sendToChannel(server.url, ownerOf(server), content);
  if (withRelay)
    return {
      visitor,
      phone,
      mention,
      messageId: await makeJourney(phone, places, { content, send }, narrator),
    };
  await makeJourneyWithoutRelay(phone, narrator);
  return { visitor, phone, mention, messageId: await send() };
}

async function keepRunning(
  { ports, withRelay }: QuickstartOptions,
  paths: QuickstartPaths,
  { vendors, relay, server }: RunningParts,
  { shown, narrator, closers }: { shown: Shown; narrator: Narrator; closers: Closers },
): Promise<void> {
  const owner = ownerOf(server);
  await writePrivateFile(paths.ownerCurl, `user = "${owner.email}:${owner.api_key}"\nsilent\nshow-error\n`);
  const chat = await provisionGoingOn(server.url, owner);
  const urls = { server: server.url, relay: relay.url, vendors: vendors.urls.http };
  introduce({ ...shown, paths, urls, chat }, narrator);
  if (!withRelay) return;
  const sendCommand = sendingCommand({ ...shown, paths, urls });
  const page = await startPage(ports.page, {
    ...urlsOf(paths, vendors),
    serverUrl: server.url,
    serverEnvironment: server.environment,
    relayEnvironment: relay.environment,
    user: shown.visitor,
    sendCommand,
  });
  closers.push(() => page.close());
  introducePhone({ pageLink: page.link, sendCommand }, narrator);
  closers.push(await watchPhone(shown.phone, vendors.urls.http, narrator));
}

/** Returns the files to search for leaked secrets, and the URL of Google's deliveries. */
function urlsOf(paths: QuickstartPaths, vendors: Vendors): JourneyUrls {
  return {
    vendorsUrl: vendors.urls.http,
    serverFiles: [paths.serverDatabase, `${paths.serverDatabase}-wal`, paths.serverLog],
    relayFiles: [paths.relayDatabase, `${paths.relayDatabase}-wal`, paths.relayLog],
  };
}

function ownerOf({ users: [owner] }: RunningParts['server']): QuickstartUser {
  if (owner === undefined) throw new Error('the organization has no owner');
  return owner;
}

function logTo(path: string, name: string, closers: Closers): Log {
  const stream = createWriteStream(path, { flags: 'a', mode: 0o600 });
  closers.push(() => new Promise((resolve) => stream.end(resolve)));
  return createLogger(name, 'info', stream);
}
