/** A user's visibility policies for topics, with the numeric values of the chat API. */
export const visibilityPolicies = { none: 0, muted: 1, unmuted: 2, followed: 3 } as const;

export type VisibilityPolicy = (typeof visibilityPolicies)[keyof typeof visibilityPolicies];
