import pg from 'pg';
import { connectionSettings } from './connection-settings.js';

export interface Address {
  readonly host: string;
  readonly port: number;
  readonly database: string;
  readonly user: string;
}

/** Returns the address in a URL with one host. The driver parses the URL, with its defaults from the environment. */
export function addressOf(url: string): Address | undefined {
  try {
    const { host, port, database = '', user = '' } = new pg.Client(connectionSettings(url));
    return { host, port, database, user };
  } catch {
    // The driver's message is dropped, because it contains the URL with the password.
    return undefined;
  }
}
