import { measureSlowdown } from '../../support/slowdown.js';
import type { SpawnedProcess } from '../../support/spawned-process.js';

/** Resources that a process uses, read from its metrics. */
export interface Holdings {
  readonly residentBytes: number;
  readonly heapBytes: number;
  readonly connections: number;
  readonly requestsInFlight: number;
  readonly bodyBytesInFlight: number;
}

const collect = `
  import { setFlagsFromString } from 'node:v8';
  import { runInNewContext } from 'node:vm';
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc');
  process.on('SIGUSR2', () => collect());`;

/** Environment variables that let a probe trigger garbage collection in a process. */
export const probedEnvironment = {
  NODE_OPTIONS: `--import=data:text/javascript;base64,${Buffer.from(collect).toString('base64')}`,
};

/** Observes a process from outside. */
export class ProcessProbe {
  readonly #process: SpawnedProcess;
  readonly #metricsUrl: string;

  constructor(process: SpawnedProcess, metricsPort: string) {
    this.#process = process;
    this.#metricsUrl = `http://127.0.0.1:${metricsPort}/metrics`;
  }

  /** Reads the resources in use after triggering a garbage collection. */
  look(): Promise<Holdings> {
    this.#process.child.kill('SIGUSR2');
    return this.glance();
  }

  /** Reads the resources in use without triggering a garbage collection. */
  async glance(): Promise<Holdings> {
    const text = await (await fetch(this.#metricsUrl)).text();
    const read = (name: string): number => {
      const value = new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1];
      if (value === undefined) throw new Error(`the process exposes no metric ${name}:\n${text}`);
      return Number(value);
    };
    return {
      residentBytes: read('process_resident_memory_bytes'),
      heapBytes: read('nodejs_heap_size_used_bytes'),
      connections: read('waxwing_http_connections'),
      requestsInFlight: read('waxwing_http_requests_in_flight'),
      bodyBytesInFlight: read('waxwing_http_body_bytes_in_flight'),
    };
  }

  /** Error lines of the process's log. */
  errors(): string[] {
    return this.#process.output.split('\n').filter((line) => /"level":"(?:error|fatal)"/.test(line));
  }

  /** Starts measuring how much other programs slow the process down; see {@link measureSlowdown}. */
  slowdown(): () => number {
    return measureSlowdown(this.#process.child.pid);
  }
}
