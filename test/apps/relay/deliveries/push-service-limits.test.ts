import { afterEach, expect, it } from 'vitest';
import { checkEndpoint } from '#relay/deliveries/vendors/webpush/endpoint-rules.js';
import { PushServices } from '#relay/deliveries/vendors/webpush/push-services.js';

const services = new Set<PushServices>();
afterEach(async () => {
  for (const each of services) await each.close(0);
  services.clear();
});

function newServices() {
  const made = new PushServices({
    clock: () => Date.now(),
    ca: undefined,
    proxy: undefined,
    timeoutMilliseconds: 1000,
  });
  services.add(made);
  return (host: string) => {
    const endpoint = checkEndpoint(`https://${host}/a`, { hosts: '*', privateHosts: new Set() });
    if (typeof endpoint === 'string') throw new Error(`${host} is refused`);
    const service = made.of(endpoint);
    return { service, shared: made.sharedGate(service) };
  };
}

/** Counts the concurrent requests that a gate admits. */
async function admitted(
  gate: { enter(notAfter: number, sender: string): true | Promise<boolean> },
  sender = 'server',
) {
  let count = 0;
  while (gate.enter(Number.POSITIVE_INFINITY, sender) === true) count += 1;
  return count;
}

it('a push service gets four concurrent requests until it has answered, and then 64', async () => {
  const find = newServices();
  const { service } = find('push.example');
  expect(await admitted(service.gate)).toBe(4);
  service.breaker.settle(true);
  service.gate.leave('server');
  // Four of the 64 slots are taken, by three earlier requests and the request that waited.
  expect(await admitted(service.gate)).toBe(60);
});

it('push services that have not answered share 64 requests, 32 of each server, and the others share 512', async () => {
  const find = newServices();
  const fresh = find('fresh.example');
  expect(await admitted(fresh.shared)).toBe(32);
  expect(await admitted(fresh.shared, 'another server')).toBe(32);
  expect(await admitted(fresh.shared, 'a third one')).toBe(0);
  find('proven.example').service.breaker.settle(true);
  expect(await admitted(find('proven.example').shared)).toBe(512);
  // After a failure, the push service shares slots with the push services that have not answered.
  find('proven.example').service.breaker.settle(false);
  expect(find('proven.example').shared).toBe(fresh.shared);
});

it('the relay remembers the 1000 push services that it used last', () => {
  const find = newServices();
  const names = Array.from({ length: 1000 }, (_, index) => `host-${index}.example`);
  const known = names.map((name) => find(name).service);
  expect(names.map((name) => find(name).service)).toEqual(known);
  find('one-more.example');
  expect(find('host-999.example').service).toBe(known[999]);
  expect(find('host-0.example').service).not.toBe(known[0]);
});
