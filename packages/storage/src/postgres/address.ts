import pg from 'pg';
import { connectionSettings } from './connection-settings.js';

export interface Address {
  readonly host: string;
  readonly port: number;
  readonly database: string;
  readonly user: string;
}

/** Address in a URL with one host. Parsed by the driver, with its defaults from the environment. */
export function addressOf(url: string): Address | undefined {
  try {
    const { host, port, database = '', user = '' } = new pg.Client(connectionSettings(url));
    return { host, port, database, user };
  } catch {
    // The driver's message contains the URL, and with it the password.
    return undefined;
  }
}
