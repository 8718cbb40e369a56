interface ListenError extends NodeJS.ErrnoException {
  readonly address?: string;
  readonly port?: number;
  readonly hostname?: string;
}

/**
 * Describes why a process cannot listen, in one sentence that also says what to do. Returns `undefined` for any other
 * error.
 */
export function describeListenTrouble(error: unknown): string | undefined {
  const { code, syscall, address = '/', port, hostname } = error as ListenError;
  if ((code === 'ENOTFOUND' || code === 'EAI_AGAIN') && syscall === 'getaddrinfo') {
    return `The name ${hostname} cannot be resolved: correct it in the settings, or fix DNS on this machine.`;
  }
  // An address with a leading slash is a Unix domain socket. UDP sockets report "bind".
  if ((syscall !== 'listen' && syscall !== 'bind') || address.startsWith('/')) return undefined;
  switch (code) {
    case 'EADDRINUSE':
      return `Another process listens on ${address}, port ${port}: stop it, or set another port.`;
    case 'EADDRNOTAVAIL':
      return `This machine has no address ${address}: set one of its addresses, or 0.0.0.0 for all.`;
    case 'EACCES':
      return `This user may not listen on port ${port}: set a port of 1024 or above, and put a proxy in front.`;
    default:
      return undefined;
  }
}
