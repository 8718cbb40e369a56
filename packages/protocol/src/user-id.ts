/** The chat server's number for a user or a bot. */
export type UserId = number & { readonly brand: 'UserId' };
