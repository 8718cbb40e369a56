// Responses of the relay's admin API. Times are Unix milliseconds; 64-bit ids are decimal strings.

export type Vendor = 'fcm' | 'apns' | 'webpush';
export type DeliveryOutcome = 'delivered' | 'rejected' | 'retried';

interface Check {
  readonly name: string;
  readonly ok: boolean;
  readonly cause?: string;
  readonly remedy?: string;
}

interface OutcomeCounts {
  readonly vendor: Vendor;
  readonly outcome: DeliveryOutcome;
  readonly counts: readonly number[];
}

export interface Overview {
  readonly now: number;
  readonly version: string;
  readonly started_at: number;
  readonly ready: boolean;
  readonly checks: readonly Check[];
  readonly queue: {
    readonly due: number;
    readonly waiting: number;
    readonly running: number;
    readonly dead: number;
    readonly oldest_due_age_ms: number | null;
  };
  /** Upper bounds of the percentiles, in milliseconds. */
  readonly latency_ms: { readonly p50: number; readonly p95: number; readonly p99: number } | null;
  /** `devices` is counted every 15 minutes; `null` until the first count has finished. */
  readonly registrations: {
    readonly active: number | null;
    readonly servers: number;
    readonly devices: number | null;
  };
  readonly minutes: {
    readonly at: readonly number[];
    readonly registrations: readonly number[];
    readonly outcomes: readonly OutcomeCounts[];
  };
}

export type KeyState = 'primary' | 'open' | 'retired' | 'revoked';

interface DayUse {
  /** A day in ISO 8601, such as `2026-11-26`. */
  readonly day: string;
  readonly registrations: number;
}

export interface RingKey {
  readonly id: string;
  readonly state: KeyState;
  readonly created_at: number;
  readonly primary_from: number | null;
  readonly open_until: number | null;
  readonly retired_at: number | null;
  readonly use_per_day: readonly DayUse[];
}

export interface KeyRing {
  readonly now: number;
  readonly list_expires_at: number | null;
  readonly signing_key: { readonly fingerprint: string; readonly since: number };
  readonly recovery_key: { readonly fingerprint: string } | null;
  readonly keys: readonly RingKey[];
}

/** Whether a key can be retired without locking out phones, and why. */
export interface Retirement {
  readonly safe: boolean;
  readonly explanation: string;
}

export interface RelayServer {
  readonly uuid: string;
  /** Name that the operator chose; may be empty. */
  readonly name: string;
  readonly hostname: string | null;
  readonly state: 'active' | 'suspended' | 'deactivated';
  readonly last_seen_at: number | null;
  readonly devices: number;
  /** Notifications per minute. */
  readonly quota: { readonly used: number; readonly limit: number };
  readonly delivered_day: number;
  readonly rejected_day: number;
}

export interface ServerPage {
  readonly servers: readonly RelayServer[];
  readonly next?: string;
}

export interface Invitation {
  readonly code: string;
  readonly expires_at: number;
}

export interface RelayApp {
  readonly app_id: string;
  readonly vendor: Vendor;
  readonly environment?: string;
  readonly last_success_at: number | null;
  readonly breaker: 'closed' | 'open' | 'half-open';
  readonly last_error?: string;
}

export interface AppList {
  readonly apps: readonly RelayApp[];
}

export interface DeadLetter {
  readonly id: string;
  readonly kind: string;
  readonly reason: string;
  /** The server's id. */
  readonly server?: string;
  readonly attempts: number;
  readonly died_at: number;
}

export interface DeadLetterPage {
  readonly dead: readonly DeadLetter[];
  readonly next?: string;
  readonly total: number;
}

export interface FrozenApp {
  readonly app_id: string;
  readonly vendor: Vendor;
  readonly since: number;
  /** Number of frozen deletions. */
  readonly held: number;
  readonly explanation: string;
}

export interface FrozenList {
  readonly frozen: readonly FrozenApp[];
}

export interface AuditEntry {
  readonly id: string;
  readonly at: number;
  readonly actor: string;
  readonly action: string;
  readonly subject: string;
  readonly detail: string;
}

export interface AuditPage {
  readonly entries: readonly AuditEntry[];
  readonly next?: string;
}
