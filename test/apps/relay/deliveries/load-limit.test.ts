import { Metrics } from '@waxwing/service/metrics';
import { describe, expect, it } from 'vitest';
import { DeliveryMetrics } from '#relay/deliveries/delivery-metrics.js';
import { LoadLimit } from '#relay/deliveries/queue/load-limit.js';

const full = expect.objectContaining({ code: 'SERVICE_UNAVAILABLE', retryAfterSeconds: 2 });

function limitOf(maximumInFlight: number) {
  const metrics = new DeliveryMetrics(new Metrics());
  return new LoadLimit({ maximumInFlight, maximumQueued: 100, metrics });
}

describe('notifications in flight', () => {
  it('take at most half of the free slots per server, to leave room for others', () => {
    const load = limitOf(12);
    load.enter('first', 6);
    expect(() => load.enter('first', 1)).toThrow(full);
    load.enter('second', 3);
    expect(() => load.enter('second', 1)).toThrow(full);
    load.enter('third', 2);
    expect(() => load.enter('third', 1)).toThrow(full);
    load.enter('fourth', 1);
    expect(() => load.requireRoom('fifth', 1)).toThrow(full);
  });

  it('release their slots for their own server and for others', () => {
    const load = limitOf(4);
    load.enter('first', 2);
    expect(() => load.requireRoom('first', 1)).toThrow(full);
    load.leave('first', 1);
    load.enter('first', 1);
    load.leave('first', 2);
    load.enter('second', 2);
    load.leave('second', 2);
    load.enter('first', 2);
  });

  it('may exceed the limit in one request if nothing else is in flight', () => {
    const load = limitOf(4);
    load.enter('first', 9);
    expect(() => load.requireRoom('second', 1)).toThrow(full);
    expect(() => load.requireRoom('first', 1)).toThrow(full);
    load.leave('first', 9);
    load.enter('second', 4);
  });
});
