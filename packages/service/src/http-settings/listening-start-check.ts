import { createSocket } from 'node:dgram';
import { lookup } from 'node:dns/promises';
import { once } from 'node:events';
import { ConfigurationError } from '../config/configuration-error.js';
import type { StartCheck } from '../config/start-check.js';
import { describeListenTrouble } from '../lifecycle/listen-trouble.js';
import type { ListenConfiguration } from './listen-configuration.js';

/**
 * Checks that this machine has the addresses on which a service will listen, and that this user may use its ports. Does
 * not check whether the ports are free, because a running process of the same service may use them.
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

/** Binds a UDP socket for a moment: the same rules apply to it, but it cannot collide with a TCP listener. */
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
    // The UDP port is in use, which does not matter.
    if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE') return;
    const trouble = describeListenTrouble(error);
    throw trouble === undefined ? error : new ConfigurationError([trouble]);
  }
}
