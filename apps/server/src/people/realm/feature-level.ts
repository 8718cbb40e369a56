/**
 * The feature level of the chat API that this server announces. Clients infer from it which features they may use.
 * docs/stock-clients.md, "Feature levels", describes each level as this server implements it. A test checks that its
 * table ends at this level.
 */
export const featureLevel = 512;

/** The human-readable version. Clients compare its leading numbers. */
export const serverVersion = { zulip_version: '13.0-dev+waxwing', zulip_merge_base: '13.0-dev' } as const;
