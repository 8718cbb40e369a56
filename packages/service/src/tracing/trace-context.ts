import { context, isSpanContextValid, type SpanContext, TraceFlags, trace } from '@opentelemetry/api';

/** `00-<trace id>-<parent id>-<flags>` in lowercase. https://www.w3.org/TR/trace-context/#traceparent-header */
const form = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/;

/** Returns the W3C `traceparent` of the current span; `undefined` outside a trace or without a tracer provider. */
export function currentTraceparent(): string | undefined {
  const span = trace.getSpanContext(context.active());
  if (span === undefined || !isSpanContextValid(span)) return undefined;
  const flags = (span.traceFlags & TraceFlags.SAMPLED).toString(16).padStart(2, '0');
  return `00-${span.traceId}-${span.spanId}-${flags}`;
}

/** Parses a `traceparent`. Returns `undefined` if it is malformed; the caller then starts a new trace. */
export function parseTraceparent(text: string): SpanContext | undefined {
  const [, traceId = '', spanId = '', flags = ''] = form.exec(text) ?? [];
  const traceFlags = Number.parseInt(flags, 16) & TraceFlags.SAMPLED;
  const span = { traceId, spanId, traceFlags, isRemote: true };
  return isSpanContextValid(span) ? span : undefined;
}

/** Binds `work` to the current trace. For work that is called later by other code, such as a shared commit. */
export function boundToTrace<Arguments extends unknown[], Result>(
  work: (...given: Arguments) => Result,
): (...given: Arguments) => Result {
  return context.bind(context.active(), work);
}
