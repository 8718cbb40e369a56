/**
 * The feature level of the chat API that this server announces. Clients conclude from it what they may ask for. What each
 * level means here is in docs/stock-clients.md, "Feature levels"; a test checks that the table ends at this level.
 */
export const featureLevel = 512;

/** The version for people. Clients compare its leading numbers. */
export const serverVersion = { zulip_version: '13.0-dev+waxwing', zulip_merge_base: '13.0-dev' } as const;
