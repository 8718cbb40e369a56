import { sign } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import {
  type ClientHttp2Session,
  connect,
  type IncomingHttpHeaders,
  type OutgoingHttpHeaders,
} from 'node:http2';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startVendors, type Vendors, type VendorsOptions } from '@waxwing/vendors';
import { readStatistics, type VendorStatistics } from './vendor-statistics.js';

export const deviceToken = 'c0ffee00'.repeat(8);
export const topic = 'org.example.App';

/** Stand-ins with a clock that the test controls, and clients that are implemented independently of the stand-ins. */
export interface TestVendors {
  readonly vendors: Vendors;
  readonly dataDir: string;
  readonly log: string[];
  readonly clock: { milliseconds: number };
  close(): Promise<void>;
}

export async function startTestVendors(options: Partial<VendorsOptions> = {}): Promise<TestVendors> {
  const dataDir = options.dataDir ?? (await mkdtemp(join(tmpdir(), 'vendors-')));
  const clock = { milliseconds: Date.now() };
  const log: string[] = [];
  const vendors = await startVendors({
    clock: () => clock.milliseconds,
    log: (message) => log.push(message),
    ...options,
    dataDir,
  });
  return {
    vendors,
    dataDir,
    log,
    clock,
    async close() {
      await vendors.close();
      if (options.dataDir === undefined) await rm(dataDir, { recursive: true });
    },
  };
}

/** Signs a compact JSON Web Token that has exactly this header and these claims. */
function signToken(header: object, claims: object, privateKey: string): string {
  const signedText = [header, claims]
    .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
    .join('.');
  const signature = sign('sha256', Buffer.from(signedText), { key: privateKey, dsaEncoding: 'ieee-p1363' });
  return `${signedText}.${signature.toString('base64url')}`;
}

export interface ServiceAccountFile {
  readonly type: string;
  readonly project_id: string;
  readonly private_key_id: string;
  readonly private_key: string;
  readonly client_email: string;
  readonly token_uri: string;
}

export async function readServiceAccount({ vendors }: TestVendors): Promise<ServiceAccountFile> {
  return JSON.parse(await readFile(vendors.credentials.serviceAccountFile, 'utf8')) as ServiceAccountFile;
}

export interface AssertionChanges {
  readonly header?: object;
  readonly claims?: object;
  readonly privateKey?: string;
}

/** Creates the assertion of the service account, with the test's changes. */
export async function makeAssertion(test: TestVendors, changes: AssertionChanges = {}): Promise<string> {
  const account = await readServiceAccount(test);
  const nowSeconds = Math.floor(test.clock.milliseconds / 1000);
  const header = { alg: 'RS256', typ: 'JWT', kid: account.private_key_id, ...changes.header };
  const claims = {
    iss: account.client_email,
    scope: 'https://www.googleapis.com/auth/firebase.messaging',
    aud: account.token_uri,
    iat: nowSeconds,
    exp: nowSeconds + 3600,
    ...changes.claims,
  };
  return signToken(header, claims, changes.privateKey ?? account.private_key);
}

export async function requestAccessToken(test: TestVendors, assertion: string): Promise<Response> {
  return fetch(`${test.vendors.urls.http}/token`, {
    method: 'POST',
    body: new URLSearchParams({ grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer', assertion }),
  });
}

export async function getAccessToken(test: TestVendors): Promise<string> {
  const response = await requestAccessToken(test, await makeAssertion(test));
  const { access_token: accessToken } = (await response.json()) as { access_token: string };
  return accessToken;
}

export interface FcmRequest {
  readonly accessToken?: string;
  readonly project?: string;
  readonly body: string | object;
}

export async function sendToFcm(test: TestVendors, request: FcmRequest): Promise<Response> {
  const { project = test.vendors.credentials.fcmProjectId, body, accessToken } = request;
  return fetch(`${test.vendors.urls.fcm}/v1/projects/${project}/messages:send`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...(accessToken !== undefined && { authorization: `Bearer ${accessToken}` }),
    },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
}

export interface ProviderTokenChanges {
  readonly header?: object;
  readonly claims?: object;
  readonly privateKey?: string;
}

/** Creates a provider token with the .p8 file, with the test's changes. */
export async function makeProviderToken(
  test: TestVendors,
  changes: ProviderTokenChanges = {},
): Promise<string> {
  const { apnsKeyFile, apnsKeyId, apnsTeamId } = test.vendors.credentials;
  const header = { alg: 'ES256', kid: apnsKeyId, ...changes.header };
  const claims = { iss: apnsTeamId, iat: Math.floor(test.clock.milliseconds / 1000), ...changes.claims };
  return signToken(header, claims, changes.privateKey ?? (await readFile(apnsKeyFile, 'utf8')));
}

export interface ApnsAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: { reason?: string; timestamp?: number };
}

/** An HTTP/2 connection to a stand-in for APNs. Trusts only the CA file. */
export class ApnsClient {
  readonly session: ClientHttp2Session;
  readonly goaways: { code: number; lastStreamId: number; debugData: string }[] = [];
  readonly #headers: OutgoingHttpHeaders;

  private constructor(session: ClientHttp2Session, headers: OutgoingHttpHeaders) {
    this.session = session;
    this.#headers = headers;
    session.on('goaway', (code, lastStreamId, debugData) => {
      this.goaways.push({ code, lastStreamId, debugData: debugData?.toString() ?? '' });
    });
  }

  static async connect(
    test: TestVendors,
    environment: 'production' | 'sandbox' = 'production',
  ): Promise<ApnsClient> {
    const { urls, credentials } = test.vendors;
    const authorization = `bearer ${await makeProviderToken(test)}`;
    const session = connect(environment === 'production' ? urls.apnsProduction : urls.apnsSandbox, {
      ca: await readFile(credentials.caFile),
    });
    await new Promise((resolve, reject) => {
      session.once('remoteSettings', resolve);
      session.once('error', reject);
    });
    return new ApnsClient(session, { authorization, 'apns-topic': topic });
  }

  /** Sends a notification. Omits headers that are `undefined`. Rejects if the stream is reset. */
  send(
    token: string = deviceToken,
    headers: OutgoingHttpHeaders = {},
    body = '{"aps":{}}',
  ): Promise<ApnsAnswer> {
    const all = { ':method': 'POST', ':path': `/3/device/${token}`, ...this.#headers, ...headers };
    const present = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
    const stream = this.session.request(present);
    return new Promise((resolve, reject) => {
      let answer: IncomingHttpHeaders = {};
      let status: number | undefined;
      let text = '';
      stream.setEncoding('utf8');
      stream.on('response', (received) => {
        answer = received;
        status = received[':status'];
      });
      stream.on('data', (chunk: string) => {
        text += chunk;
      });
      stream.on('error', reject);
      stream.on('close', () => {
        if (stream.rstCode !== 0) reject(new Error(`reset with code ${stream.rstCode}`));
        else if (status === undefined) reject(new Error('closed without an answer'));
        else resolve({ status, headers: answer, body: text === '' ? {} : JSON.parse(text) });
      });
      stream.end(body);
    });
  }

  /** Waits until the stand-in allows this many concurrent streams. */
  async waitForStreamLimit(limit: number): Promise<void> {
    while (this.session.remoteSettings.maxConcurrentStreams !== limit) {
      await new Promise((resolve) => this.session.once('remoteSettings', resolve));
    }
  }

  close(): void {
    this.session.destroy();
  }
}

export async function putFaults(
  test: TestVendors,
  rules: readonly object[],
  seed?: number,
): Promise<Response> {
  return fetch(`${test.vendors.urls.http}/faults`, { method: 'PUT', body: JSON.stringify({ rules, seed }) });
}

export interface ShownDelivery {
  readonly vendor: string;
  readonly token: string;
  readonly environment?: string;
  readonly headers: Record<string, string>;
  readonly body: Record<string, unknown>;
  readonly received_at: number;
}

export async function getDeliveries(test: TestVendors, token?: string): Promise<ShownDelivery[]> {
  const query = token === undefined ? '' : `?token=${encodeURIComponent(token)}`;
  const response = await fetch(`${test.vendors.urls.http}/deliveries${query}`);
  return ((await response.json()) as { deliveries: ShownDelivery[] }).deliveries;
}

export async function getStatistics(test: TestVendors): Promise<VendorStatistics> {
  return await readStatistics(test.vendors.urls.http);
}
