/** Requests to the page's own server. Paths are relative to the link, which contains the token. */

/** Sign-in data of the phone's user, and the public keys that an app is built with. */
export interface PhoneFacts {
  readonly realm_url: string;
  readonly user_id: number;
  readonly email: string;
  readonly api_key: string;
  readonly keys: {
    readonly bouncer_public_key: string;
    readonly signing_public_key: string;
    readonly recovery_public_key: string | null;
  };
  /** VAPID public key that browsers use to subscribe to pushes, in base64url. */
  readonly vapid_public_key: string;
  readonly send_command: string;
}

/** Whether each party stores a text in the clear. */
interface Holders {
  readonly server: boolean;
  readonly relay: boolean;
  readonly vendor: boolean;
}

export interface HoldersAnswer {
  readonly text: Holders;
  readonly token: Holders;
}

export interface RelayKey {
  readonly id: string;
  readonly public_key: string;
  readonly state: string;
}

export const fetchPhoneFacts = (): Promise<PhoneFacts> => ask('GET', 'api/phone');

/** Makes the server notify the phone's user. Resolves to the number of devices that are notified. */
export const sendText = (text: string): Promise<{ devices: number }> => ask('POST', 'api/send', { text });

export const searchHolders = (text: string, token: string): Promise<HoldersAnswer> =>
  ask('POST', 'api/holders', { text, token });

export const fetchRelayKeys = (): Promise<{ keys: readonly RelayKey[] }> => ask('GET', 'api/keys');

export const rotateRelayKey = (): Promise<{ changed: boolean }> => ask('POST', 'api/keys');

/** @throws Error with the server's message if it refuses the request. */
async function ask<T>(method: 'GET' | 'POST', path: string, fields?: Record<string, string>): Promise<T> {
  const body = fields === undefined ? {} : { body: new URLSearchParams(fields) };
  const response = await fetch(path, { method, ...body });
  const answer = (await response.json()) as T & { error?: string };
  if (!response.ok)
    throw new Error(answer.error ?? `The quickstart responded with status ${response.status}.`);
  return answer;
}
