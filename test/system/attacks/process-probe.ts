import { measureSlowdown } from '../../support/slowdown.js';
import type { SpawnedProcess } from '../../support/spawned-process.js';

/** What a process holds, as its metrics tell. */
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

/** Given to a process at its start, lets a probe have its garbage collected. */
export const probedEnvironment = {
  NODE_OPTIONS: `--import=data:text/javascript;base64,${Buffer.from(collect).toString('base64')}`,
};

/** Looks into a process from outside. */
export class ProcessProbe {
  readonly #process: SpawnedProcess;
  readonly #metricsUrl: string;

  constructor(process: SpawnedProcess, metricsPort: string) {
    this.#process = process;
    this.#metricsUrl = `http://127.0.0.1:${metricsPort}/metrics`;
  }

  /** After its garbage was collected. */
  look(): Promise<Holdings> {
    this.#process.child.kill('SIGUSR2');
    return this.glance();
  }

  /** As it is, garbage included. */
  async glance(): Promise<Holdings> {
    const text = await (await fetch(this.#metricsUrl)).text();
    const read = (name: string): number => {
      const value = new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1];
      if (value === undefined) throw new Error(`there is no metric ${name} in:\n${text}`);
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

  /** The lines of its log that tell of errors. */
  errors(): string[] {
    return this.#process.output.split('\n').filter((line) => /"level":"(?:error|fatal)"/.test(line));
  }

  /** Begins to measure how much longer the process takes because others use its cores, as {@link measureSlowdown}. */
  slowdown(): () => number {
    return measureSlowdown(this.#process.child.pid);
  }
}
