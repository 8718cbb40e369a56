/** Names that the page and its service worker share. Both files are below the link's path. */

export const storagePrefix = 'waxwing-quickstart ';

export const storageName = (): string => storagePrefix + new URL('./', location.href).pathname;

/** Returns the name of the channel that carries decrypted notifications from the service worker to the page. */
export const openedChannelName = (): string => `opened ${storageName()}`;
