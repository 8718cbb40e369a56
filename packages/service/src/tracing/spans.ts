import {
  type Attributes,
  type Context,
  context,
  ProxyTracerProvider,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import { parseTraceparent } from './trace-context.js';

export interface SpanOptions {
  readonly kind: 'client' | 'consumer';
  readonly attributes?: Attributes;
}

/**
 * Runs the work of an HTTP request in a span. The span continues the trace of the request's `traceparent`, or starts a
 * new trace. If there is no tracer provider, just runs the work.
 * @param isFault whether an error is a fault of this program rather than of the request
 */
export function inRequestSpan<Result>(
  name: string,
  traceparent: string | undefined,
  work: () => Result | Promise<Result>,
  isFault: (error: unknown) => boolean,
): Result | Promise<Result> {
  const tracer = findTracer();
  if (tracer === undefined) return work();
  const parent = contextOf(traceparent) ?? ROOT_CONTEXT;
  return record({ tracer, name, kind: SpanKind.SERVER, parent, attributes: {}, isFault }, async () => work());
}

/**
 * Runs work in a span of the trace given by `traceparent`. If it is `undefined`, runs the work outside any trace, so
 * that work started by a timer does not join the trace of the code that set the timer.
 */
export function inSpanOf<Result>(
  traceparent: string | undefined,
  name: string,
  { kind, attributes = {} }: SpanOptions,
  work: () => Promise<Result>,
): Promise<Result> {
  const tracer = findTracer();
  if (tracer === undefined) return work();
  const parent = contextOf(traceparent);
  if (parent === undefined) return context.with(ROOT_CONTEXT, work);
  const spanKind = kind === 'client' ? SpanKind.CLIENT : SpanKind.CONSUMER;
  return record({ tracer, name, kind: spanKind, parent, attributes, isFault: () => true }, work);
}

/** Runs work outside any trace. */
export function withoutTrace<Result>(work: () => Result): Result {
  return context.with(ROOT_CONTEXT, work);
}

interface Recorded {
  readonly tracer: Tracer;
  readonly name: string;
  readonly kind: SpanKind;
  readonly parent: Context;
  readonly attributes: Attributes;
  isFault(error: unknown): boolean;
}

function record<Result>(
  { tracer, name, kind, parent, attributes, isFault }: Recorded,
  work: () => Promise<Result>,
): Promise<Result> {
  return tracer.startActiveSpan(name, { kind, attributes }, parent, async (span) => {
    try {
      return await work();
    } catch (error) {
      // Sets only the code, because the error's message may contain data that must not be exported.
      if (isFault(error)) span.setStatus({ code: SpanStatusCode.ERROR });
      throw error;
    } finally {
      span.end();
    }
  });
}

/** Returns the tracer of the provider that was registered by this program or its host; `undefined` if there is none. */
function findTracer(): Tracer | undefined {
  const provider = trace.getTracerProvider();
  return provider instanceof ProxyTracerProvider
    ? provider.getDelegateTracer('waxwing')
    : provider.getTracer('waxwing');
}

function contextOf(traceparent: string | undefined): Context | undefined {
  const span = traceparent === undefined ? undefined : parseTraceparent(traceparent);
  return span === undefined ? undefined : trace.setSpanContext(ROOT_CONTEXT, span);
}
