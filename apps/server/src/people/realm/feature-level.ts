/**
 * The feature level of the chat API that this server announces. Clients infer from it which features they may use.
 * docs/stock-clients.md, "Feature levels", describes how this server implements each level. A test checks that the
 * table there ends at this level.
 */
export const featureLevel = 512;

/** The human-readable version. Clients compare its leading numbers. */
export const serverVersion = { zulip_version: '13.0-dev+waxwing', zulip_merge_base: '13.0-dev' } as const;
