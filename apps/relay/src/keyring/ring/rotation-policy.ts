/** When keys come and go. All spans in milliseconds. */
export interface RotationPolicy {
  /** Age at which the primary key is replaced. */
  readonly rotateAfterMilliseconds: number;
  /** How long a key still opens registrations after it was replaced. */
  readonly acceptForMilliseconds: number;
  /** A key with which nothing was opened for this long counts as unused, and may be retired before its date. */
  readonly unusedForMilliseconds: number;
  /** How long a signed key list is valid; it is signed again when half of that has passed. */
  readonly listValidMilliseconds: number;
}

export const dayMilliseconds = 86_400_000;

/** Defaults that suit phones: some stay in a drawer for a year, and an app is updated when its user likes. */
export const defaultRotationPolicy: RotationPolicy = {
  rotateAfterMilliseconds: 90 * dayMilliseconds,
  acceptForMilliseconds: 400 * dayMilliseconds,
  unusedForMilliseconds: 60 * dayMilliseconds,
  listValidMilliseconds: 30 * dayMilliseconds,
};
