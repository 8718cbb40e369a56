/**
 * The feature level of the chat API that this server announces. Clients conclude from it what they may ask for. What each
 * level means here is in docs/stock-clients.md, "Feature levels"; a test checks that the table reaches this level.
 *
 * 431 is the last level that identifies a push device by `push_account_id` and `push_public_key`. Later features are served
 * too. From 468 on, clients register in the newer generation of the wire format.
 */
export const featureLevel = 431;

/** The version for people. Clients compare its leading numbers. */
export const serverVersion = { zulip_version: '12.0-dev+waxwing', zulip_merge_base: '12.0-dev' } as const;
