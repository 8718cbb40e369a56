/** A user's visibility policy for a topic, as numbers of the chat API. */
export const visibilityPolicies = { none: 0, muted: 1, unmuted: 2, followed: 3 } as const;

export type VisibilityPolicy = (typeof visibilityPolicies)[keyof typeof visibilityPolicies];
