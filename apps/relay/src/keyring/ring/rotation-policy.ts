/** When keys are rotated and retired. All durations in milliseconds. */
export interface RotationPolicy {
  /** Age at which the primary key is replaced. */
  readonly rotateAfterMilliseconds: number;
  /** How long a replaced key still opens registrations. */
  readonly acceptForMilliseconds: number;
  /** A key that opened nothing for this long counts as unused and may be retired early. */
  readonly unusedForMilliseconds: number;
  /** Validity of a signed key list. The list is signed again after half of it. */
  readonly listValidMilliseconds: number;
}

export const dayMilliseconds = 86_400_000;

/** Defaults for phones: some are offline for a year, and apps update at the user's pace. */
export const defaultRotationPolicy: RotationPolicy = {
  rotateAfterMilliseconds: 90 * dayMilliseconds,
  acceptForMilliseconds: 400 * dayMilliseconds,
  unusedForMilliseconds: 60 * dayMilliseconds,
  listValidMilliseconds: 30 * dayMilliseconds,
};
