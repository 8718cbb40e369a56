import { createSocket } from 'node:dgram';
import { lookup } from 'node:dns/promises';
import { once } from 'node:events';
import { ConfigurationError } from '../config/configuration-error.js';
import type { StartCheck } from '../config/start-check.js';
import { describeListenTrouble } from '../lifecycle/listen-trouble.js';
import type { ListenConfiguration } from './listen-configuration.js';

/**
 * Checks that this machine has a service's listen addresses, and that this user may use the ports. Does not check
 * whether the ports are free: another process of the same service may be using them.
 */
export function listeningStartCheck({ host, port, metrics }: ListenConfiguration): StartCheck {
  return {
    name: 'listening',
    async check() {
      await requireUsable(host, port);
      if (metrics.kind === 'configured') await requireUsable(metrics.host, metrics.port);
      return undefined;
    },
  };
}

/**
 * Briefly binds a UDP socket. The same rules apply as for TCP, but a UDP socket cannot conflict with a TCP listener.
 */
async function requireUsable(host: string, port: number): Promise<void> {
  try {
    const { address, family } = await lookup(host);
    const socket = createSocket(family === 6 ? 'udp6' : 'udp4');
    try {
      const bound = once(socket, 'listening');
      socket.bind({ address, port, exclusive: true });
      await bound;
    } finally {
      socket.close();
    }
  } catch (error) {
    // Only the UDP port is in use. That does not matter, because the service listens on TCP.
    if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE') return;
    const trouble = describeListenTrouble(error);
    throw trouble === undefined ? error : new ConfigurationError([trouble]);
  }
}
