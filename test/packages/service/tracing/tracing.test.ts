import { ConfigurationError, EnvironmentReader } from '@waxwing/service/config';
import {
  boundToTrace,
  currentTraceparent,
  inSpanOf,
  readTracingConfiguration,
  startTracing,
} from '@waxwing/service/tracing';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { inRequestSpan } from '#service/tracing/spans.js';

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
const traceparent = `00-${traceId}-00f067aa0ba902b7-01`;
const read = (environment: Record<string, string>) => {
  const reader = new EnvironmentReader(environment, 'RELAY_');
  const configuration = readTracingConfiguration(reader);
  reader.finish();
  return configuration;
};
const program = { name: 'waxwing-test', version: '0.1.0' };

afterEach(() => {
  vi.doUnmock('@opentelemetry/sdk-trace-node');
  vi.resetModules();
});

describe('without a collector', () => {
  it('work runs without a trace', async () => {
    const tracing = await startTracing(read({}), program);
    const inside = () => inSpanOf(traceparent, 'job', { kind: 'consumer' }, async () => currentTraceparent());
    expect(await inRequestSpan('GET /x', traceparent, inside, () => true)).toBeUndefined();
    await tracing.close();
  });
});

describe('the tracing settings', () => {
  it.each([
    [
      { RELAY_TRACES_URL: 'collector:4318' },
      /RELAY_TRACES_URL is not the URL of a collector: use one such as/,
    ],
    [{ RELAY_TRACES_PERCENT: '101' }, /RELAY_TRACES_PERCENT/],
  ])('are rejected if they are %j', (environment, sentence) => {
    expect(() => read(environment)).toThrow(ConfigurationError);
    expect(() => read(environment)).toThrow(sentence);
  });

  it('lead to an error that names missing packages', async () => {
    vi.doMock('@opentelemetry/sdk-trace-node', () => {
      throw new Error("Cannot find package '@opentelemetry/sdk-trace-node'");
    });
    const configuration = read({ RELAY_TRACES_URL: 'http://127.0.0.1:4318/v1/traces' });
    await expect(startTracing(configuration, program)).rejects.toThrow(
      /^RELAY_TRACES_URL needs packages that are not installed: run npm install @opentelemetry\/sdk-trace-node@/,
    );
  });
});

describe('with a collector', () => {
  it('spans continue a valid traceparent, or else start a trace, and work on a timer has no trace', async () => {
    // Nothing listens on this port, so spans are lost without other effects.
    const configuration = read({ RELAY_TRACES_URL: 'http://127.0.0.1:9/v1/traces' });
    const tracing = await startTracing(configuration, program);
    const request = (header: string | undefined, work: () => Promise<string | undefined>) =>
      inRequestSpan('POST /x', header, work, () => true);
    const here = async () => currentTraceparent();
    const detached = () => inSpanOf(undefined, 'timer', { kind: 'consumer' }, here);

    expect(await request(traceparent, here)).toMatch(new RegExp(`^00-${traceId}-[0-9a-f]{16}-01$`));
    expect(await request(traceparent.replace('-01', '-00'), here)).toMatch(/^00-4bf92f.*-00$/);
    for (const malformed of [
      undefined,
      'x',
      `${traceparent}-more`,
      `00-${'0'.repeat(32)}-00f067aa0ba902b7-01`,
    ]) {
      const started = await request(malformed, here);
      expect(started).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/);
      expect(started).not.toContain(traceId);
    }
    expect(await request(traceparent, detached)).toBeUndefined();
    const bound: (() => Promise<string | undefined>)[] = [];
    await request(traceparent, async () => {
      bound.push(boundToTrace(here));
      return undefined;
    });
    expect(await bound[0]?.()).toContain(traceId);
    await expect(request(traceparent, () => Promise.reject(new Error('as it was')))).rejects.toThrow(
      'as it was',
    );
    await tracing.close();
  });
});
