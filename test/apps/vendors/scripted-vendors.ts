import { afterAll, afterEach, beforeAll, expect } from 'vitest';
import {
  ApnsClient,
  getAccessToken,
  putFaults,
  sendToFcm,
  startTestVendors,
  type TestVendors,
} from './vendor-clients.js';

/** Stand-ins for fault tests. Every test starts without rules and deliveries. */
export let test: TestVendors;
export let accessToken: string;
const clients: ApnsClient[] = [];

/** Registers the hooks. Each test file must call it, because this module is loaded only once for several files. */
export function useScriptedVendors(): void {
  beforeAll(async () => {
    test = await startTestVendors();
    accessToken = await getAccessToken(test);
  });
  afterEach(async () => {
    for (const client of clients.splice(0)) client.close();
    await fetch(`${test.vendors.urls.http}/faults`, { method: 'DELETE' });
    await fetch(`${test.vendors.urls.http}/deliveries`, { method: 'DELETE' });
  });
  afterAll(() => test.close());
}

export async function connectClient(environment?: 'production' | 'sandbox'): Promise<ApnsClient> {
  const client = await ApnsClient.connect(test, environment);
  clients.push(client);
  return client;
}

/** Opens a connection on which a request has succeeded, so that it allows many concurrent streams. */
export async function connectWarm(): Promise<ApnsClient> {
  const client = await connectClient();
  await client.send();
  await client.waitForStreamLimit(1000);
  return client;
}

export async function script(...rules: object[]): Promise<void> {
  const response = await putFaults(test, rules);
  expect(await response.json()).toEqual({ rules });
}

/** Sends an FCM message to one token. */
export const send = (token = 'tok') => sendToFcm(test, { accessToken, body: { message: { token } } });
