import { once } from 'node:events';
import { createServer } from 'node:net';
import { ConfigurationError } from '@waxwing/service/config';
import type { QuickstartPorts } from './quickstart-options.js';

/**
 * Checks that all ports are free before anything starts. @throws ConfigurationError that names the first port in use.
 */
export async function refuseTakenPorts(host: string, ports: QuickstartPorts): Promise<void> {
  for (const [user, port] of Object.entries(ports)) {
    const probe = createServer();
    try {
      probe.listen(port, host);
      await once(probe, 'listening');
    } catch (cause) {
      if ((cause as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw cause;
      throw new ConfigurationError(
        [`port ${port} (${user}) is in use: stop what uses it, or choose other ports with --port-base.`],
        { cause },
      );
    } finally {
      await new Promise<void>((resolve) => probe.close(() => resolve()));
    }
  }
}
