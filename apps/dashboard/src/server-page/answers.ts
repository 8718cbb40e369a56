/** Numbers of devices with one kind of token. Times in all responses are Unix milliseconds. */
export interface DeviceCounts {
  /** Empty for devices without a token. */
  readonly kind: string;
  readonly active: number;
  readonly pending: number;
  readonly failed: number;
}

export interface JobCounts {
  readonly kind: string;
  readonly due: number;
  readonly waiting: number;
  readonly running: number;
  readonly dead: number;
}

export interface RelayLink {
  readonly state: 'none' | 'untested' | 'working' | 'failing';
  readonly last_success_at: number | null;
  readonly failing_since: number | null;
  readonly last_error: { readonly at: number; readonly reason: string } | null;
  readonly last_rejection: { readonly at: number; readonly reason: string } | null;
}

/** The state of the server. */
export interface Overview {
  readonly now: number;
  readonly version: string;
  readonly started_at: number;
  readonly realm: { readonly name: string; readonly url: string };
  readonly checks: readonly {
    readonly name: string;
    readonly ok: boolean;
    readonly cause?: string;
    readonly remedy?: string;
  }[];
  readonly relay: RelayLink;
  readonly devices: readonly DeviceCounts[];
  readonly event_queues: { readonly open: number; readonly users: number };
  readonly jobs: readonly JobCounts[];
  readonly oldest_due_age_ms: number | null;
}

/** Result of one check of the push setup. */
export interface PushCheck {
  readonly name: string;
  readonly ok: boolean;
  readonly cause: string;
  readonly remedy: string | null;
}

/** A dead letter: a job that the server has given up on. */
export interface DeadJob {
  readonly id: string;
  readonly kind: string;
  readonly reason: string;
  readonly attempts: number;
  readonly died_at: number;
}
