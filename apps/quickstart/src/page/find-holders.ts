import { filesContaining } from '../files-containing.js';
import { deliveriesTo } from '../vendor-deliveries.js';

/** Whether each party stores a text unencrypted, in its database or log or, for the vendor, in its deliveries. */
export interface Holders {
  readonly server: boolean;
  readonly relay: boolean;
  readonly vendor: boolean;
}

export interface SearchedStores {
  readonly serverFiles: readonly string[];
  readonly relayFiles: readonly string[];
  readonly vendorsUrl: string;
}

/** Searches each party's stored data for a text. Of the vendor's deliveries, only those to `token` are searched. */
export async function findHolders(
  text: string,
  token: string,
  { serverFiles, relayFiles, vendorsUrl }: SearchedStores,
): Promise<Holders> {
  const [found, deliveries] = await Promise.all([
    filesContaining(text, [...serverFiles, ...relayFiles]),
    deliveriesTo(token, vendorsUrl),
  ]);
  return {
    server: found.some((file) => serverFiles.includes(file)),
    relay: found.some((file) => relayFiles.includes(file)),
    vendor: JSON.stringify(deliveries).includes(text),
  };
}
