/** Schedule for rotating and retiring keys. All durations are in milliseconds. */
export interface RotationPolicy {
  /** Age at which the primary key is replaced. */
  readonly rotateAfterMilliseconds: number;
  /** Time for which a replaced key still opens registrations. */
  readonly acceptForMilliseconds: number;
  /** Time without an opened registration after which a key counts as unused and may be retired early. */
  readonly unusedForMilliseconds: number;
  /** Validity of a signed key list. The list is signed again when half of its validity has passed. */
  readonly listValidMilliseconds: number;
}

export const dayMilliseconds = 86_400_000;

/** Default policy. It tolerates phones that are offline for a year, and users who rarely update their apps. */
export const defaultRotationPolicy: RotationPolicy = {
  rotateAfterMilliseconds: 90 * dayMilliseconds,
  acceptForMilliseconds: 400 * dayMilliseconds,
  unusedForMilliseconds: 60 * dayMilliseconds,
  listValidMilliseconds: 30 * dayMilliseconds,
};
