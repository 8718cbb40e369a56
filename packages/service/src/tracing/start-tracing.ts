import { ConfigurationError } from '../config/configuration-error.js';
import type { EnvironmentReader } from '../config/environment-reader.js';
import type { StartCheck } from '../config/start-check.js';
import { answerWithin } from '../lifecycle/answer-within.js';
import type { RunningService } from '../lifecycle/run-process.js';

/** Destination and sampling rate of spans. */
export interface TracingConfiguration {
  /** OTLP endpoint over HTTP, such as `http://127.0.0.1:4318/v1/traces`. If `undefined`, no spans are sent. */
  readonly url: string | undefined;
  /**
   * Sampling rate of new traces, in percent. Traces that another program started follow that program's sampling
   * decision.
   */
  readonly percent: number;
  /** Name of the setting that contains the URL. */
  readonly setting: string;
}

const flushMilliseconds = 2000;
const packages =
  '@opentelemetry/sdk-trace-node@2.12.0 @opentelemetry/resources@2.12.1 @opentelemetry/exporter-trace-otlp-http@0.223.1';

/** Reads `…TRACES_URL` and `…TRACES_PERCENT`. */
export function readTracingConfiguration(reader: EnvironmentReader): TracingConfiguration {
  const url = reader.optional('TRACES_URL');
  const setting = reader.fullName('TRACES_URL');
  if (url !== undefined && !/^https?:\/\/\S+$/.test(url)) {
    reader.problem(
      `${setting} is not the URL of a collector: use one such as http://127.0.0.1:4318/v1/traces.`,
    );
  }
  return { url, percent: reader.integer('TRACES_PERCENT', 100, { minimum: 0, maximum: 100 }), setting };
}

/** Checks that the packages required for tracing are installed. Returns `undefined` if no URL is configured. */
export function tracingStartCheck({ url, setting }: TracingConfiguration): StartCheck | undefined {
  if (url === undefined) return undefined;
  return {
    name: 'traces',
    async check() {
      await loadSdk(setting);
      return undefined;
    },
  };
}

/**
 * Starts sending spans, if a URL is configured. Closing sends the remaining spans, within two seconds.
 * @throws ConfigurationError if the optional packages of OpenTelemetry's SDK are not installed.
 */
export async function startTracing(
  { url, percent, setting }: TracingConfiguration,
  program: { readonly name: string; readonly version: string },
): Promise<RunningService> {
  if (url === undefined) return { close: async () => undefined };
  const { sdk, exporter } = await loadSdk(setting);
  // Samples by trace id, so that programs with the same sampling rate record the same traces.
  const ratio = new sdk.TraceIdRatioBasedSampler(percent / 100);
  const provider = new sdk.NodeTracerProvider({
    resource: sdk.resources.resourceFromAttributes({
      'service.name': program.name,
      'service.version': program.version,
    }),
    sampler: new sdk.ParentBasedSampler({ root: ratio, remoteParentSampled: ratio }),
    spanProcessors: [new sdk.BatchSpanProcessor(new exporter.OTLPTraceExporter({ url }))],
  });
  provider.register();
  return {
    close: () =>
      answerWithin(
        flushMilliseconds,
        provider.shutdown().catch(() => undefined),
        undefined,
      ),
  };
}

async function loadSdk(setting: string) {
  try {
    const sdk = await import('@opentelemetry/sdk-trace-node');
    const resources = await import('@opentelemetry/resources');
    const exporter = await import('@opentelemetry/exporter-trace-otlp-http');
    return { sdk: { ...sdk, resources }, exporter };
  } catch {
    throw new ConfigurationError([
      `${setting} needs packages that are not installed: run npm install ${packages}, or remove the setting.`,
    ]);
  }
}
