export { inSpanOf, withoutTrace } from './spans.js';
export * from './start-tracing.js';
export { boundToTrace, currentTraceparent } from './trace-context.js';
