import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { Environment } from '../config/environment-reader.js';
import type { Log } from '../logging/create-logger.js';

const timeoutMilliseconds = 5_000;

/**
 * Notifies systemd of this process's state (`sd_notify`), for units with `Type=notify`. Does nothing if `environment`
 * has no `NOTIFY_SOCKET`. Only logs a failure. Runs `systemd-notify`, because Node does not support Unix datagram
 * sockets. The unit therefore needs `NotifyAccess=all`.
 */
export async function notifySystemd(
  environment: Environment,
  state: 'READY=1' | 'STOPPING=1',
  log: Log,
): Promise<void> {
  const { NOTIFY_SOCKET, PATH } = environment;
  if (!NOTIFY_SOCKET) return;
  const env = { NOTIFY_SOCKET, PATH };
  try {
    await promisify(execFile)('systemd-notify', [state], { env, timeout: timeoutMilliseconds });
  } catch (err) {
    log.warn({ err }, `systemd did not get ${state}`);
  }
}
