import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import type { Vendors } from '@waxwing/vendors';

const program = resolve(import.meta.dirname, '../../apps/vendors/bin/waxwing-vendors.js');

/** The vendors' stand-ins in a separate process, so that they do not use the measured process's CPU time. */
export class VendorsProcess {
  readonly vendors: Pick<Vendors, 'urls' | 'credentials'>;
  readonly #child: ChildProcess;
  readonly #dir: string;

  private constructor(vendors: Pick<Vendors, 'urls' | 'credentials'>, child: ChildProcess, dir: string) {
    this.vendors = vendors;
    this.#child = child;
    this.#dir = dir;
  }

  /** @param latencyMilliseconds delay before each response from FCM and APNs. */
  static async start(latencyMilliseconds: number): Promise<VendorsProcess> {
    const dir = mkdtempSync(join(tmpdir(), 'waxwing-bench-vendors-'));
    const argv = [program, '--json', '--port-base', '0', '--data-dir', dir];
    const child = spawn(process.execPath, argv, { stdio: ['ignore', 'pipe', 'inherit'] });
    const [line] = await new Promise<string[]>((found, failed) => {
      createInterface({ input: child.stdout as NodeJS.ReadableStream }).once('line', (text) => found([text]));
      child.once('exit', (code) =>
        failed(new Error(`the stand-ins ended with ${code} before they were ready`)),
      );
    });
    const started = new VendorsProcess(JSON.parse(line ?? '{}'), child, dir);
    const rules = ['fcm', 'apns'].map((vendor) => ({ vendor, latency_ms: latencyMilliseconds }));
    await started.#ask('PUT', '/faults', JSON.stringify({ rules }));
    return started;
  }

  /** Clears the deliveries, so that they do not slow down the next round. */
  async forget(): Promise<void> {
    await this.#ask('DELETE', '/deliveries');
  }

  stop(): void {
    this.#child.kill('SIGTERM');
    rmSync(this.#dir, { recursive: true, force: true });
  }

  async #ask(method: string, path: string, body?: string): Promise<void> {
    const answer = await fetch(`${this.vendors.urls.http}${path}`, {
      method,
      ...(body !== undefined && { body }),
    });
    if (answer.status !== 200)
      throw new Error(`the stand-ins refused ${method} ${path}: ${await answer.text()}`);
  }
}
