/** Names that the page and its service worker share. Both are below the link's path. */

export const storagePrefix = 'waxwing-quickstart ';

export const storageName = (): string => storagePrefix + new URL('./', location.href).pathname;

/** The channel on which the service worker sends notifications that it has opened. */
export const openedChannelName = (): string => `opened ${storageName()}`;
