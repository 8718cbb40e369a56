/** Series by name, in promtool's notation, with one value per minute for two hours. */
export type Series = Readonly<Record<string, string>>;

/** Series that simulate an incident, and the alert that they raise. */
export interface Incident {
  readonly name: string;
  readonly alert: string;
  /** Series that replace or extend those of a healthy installation. */
  readonly series: Series;
  /** Minute at which the alert must be firing. The incident is over by minute 60. */
  readonly until: number;
}

const relay = 'job="waxwing-relay",instance="relay:9001"';
const server = 'job="waxwing-server",instance="server:9001"';
const fcm = `${relay},vendor="fcm"`;

export const wellSeries: Series = {
  [`up{${relay}}`]: '1x120',
  [`up{${server}}`]: '1x120',
  [`process_start_time_seconds{${relay}}`]: '0x120',
  [`waxwing_readiness_check{${relay},check="database"}`]: '1x120',
  [`waxwing_readiness_check{${relay},check="keys"}`]: '1x120',
  [`waxwing_readiness_warning{${relay},check="vendors"}`]: '0x120',
  [`waxwing_http_refusals_total{${relay},reason="overload"}`]: '0+6x120',
  [`waxwing_jobs{${relay},kind="deliver",state="dead"}`]: '0x120',
  [`waxwing_jobs{${relay},kind="deliver",state="due"}`]: '5x120',
  [`waxwing_database_log_bytes{${relay}}`]: '30000000x120',
  [`waxwing_clock_timestamp_seconds{${relay}}`]: '0+60x120',
  [`waxwing_key_list_expiry_timestamp_seconds{${relay}}`]: '1728000x120',
  [`waxwing_key_list_issue_timestamp_seconds{${relay}}`]: '-864000x120',
  [`waxwing_unreadable_tokens{${relay}}`]: '0x120',
  [`waxwing_delivery_seconds_bucket{${fcm},le="0.3"}`]: '0+590x120',
  [`waxwing_delivery_seconds_bucket{${fcm},le="10"}`]: '0+600x120',
  [`waxwing_delivery_seconds_bucket{${fcm},le="60"}`]: '0+600x120',
  [`waxwing_delivery_seconds_bucket{${fcm},le="+Inf"}`]: '0+600x120',
  [`waxwing_deliveries_total{${fcm},outcome="sent",reason=""}`]: '0+600x120',
  [`waxwing_deliveries_total{${fcm},outcome="rejected",reason="QUOTA_EXCEEDED"}`]: '0+10x120',
  [`waxwing_server_quota_used_ratio{${relay},server="a"}`]: '0.2x120',
  [`waxwing_push_services{${relay},state="answering"}`]: '20x120',
  [`waxwing_push_services{${relay},state="held_back"}`]: '4x120',
  [`waxwing_push_services{${relay},state="unproven"}`]: '900x120',
  [`waxwing_relay_up{${server}}`]: '1x120',
  [`waxwing_notification_results_total{${server},status="sent",fault="",reason=""}`]: '0+600x120',
};

export const incidents: readonly Incident[] = [
  {
    name: 'a stopped process',
    alert: 'WaxwingDown',
    series: { [`up{${relay}}`]: '1x10 0x20 1x90' },
    until: 15,
  },
  {
    name: 'a database that is down, or a pool without free connections',
    alert: 'WaxwingNotReady',
    series: { [`waxwing_readiness_check{${relay},check="database"}`]: '1x10 0x20 1x90' },
    until: 15,
  },
  {
    name: 'a missing identity file',
    alert: 'WaxwingNotReady',
    series: { [`waxwing_readiness_check{${relay},check="keys"}`]: '1x10 0x20 1x90' },
    until: 15,
  },
  {
    name: 'an app without a working credential',
    alert: 'WaxwingReadinessWarning',
    series: { [`waxwing_readiness_warning{${relay},check="vendors"}`]: '0x10 1x20 0x90' },
    until: 18,
  },
  {
    name: 'a process that crashes at each start',
    alert: 'WaxwingRestarts',
    series: { [`process_start_time_seconds{${relay}}`]: '0x10 60+60x8 540x100' },
    until: 18,
  },
  {
    name: 'requests beyond the capacity',
    alert: 'WaxwingRefusesRequests',
    series: { [`waxwing_http_refusals_total{${relay},reason="overload"}`]: '0+6x10 100+600x30 18200+6x80' },
    until: 30,
  },
  {
    name: 'jobs that were given up',
    alert: 'WaxwingDeadJobs',
    series: { [`waxwing_jobs{${relay},kind="deliver",state="dead"}`]: '0x10 3x20 0x90' },
    until: 18,
  },
  {
    name: 'a stuck queue',
    alert: 'WaxwingJobsLate',
    series: { [`waxwing_jobs{${relay},kind="deliver",state="due"}`]: '5x10 900x30 5x80' },
    until: 25,
  },
  {
    name: 'a backup that holds the write-ahead log',
    alert: 'WaxwingDatabaseLogGrows',
    series: { [`waxwing_database_log_bytes{${relay}}`]: '30000000x10 110000000x20 30000000x90' },
    until: 18,
  },
  {
    name: 'a clock that was stepped',
    alert: 'WaxwingClockSkew',
    series: { [`waxwing_clock_timestamp_seconds{${relay}}`]: '0+60x10 4260+60x20 1920+60x90' },
    until: 20,
  },
  {
    name: 'a revoked credential',
    alert: 'WaxwingCredentialRefused',
    series: {
      [`waxwing_app_breaker_open{${relay},app="org.example.app",kind="credential"}`]: '0x10 1x20 0x90',
    },
    until: 12,
  },
  {
    name: 'a vendor that is down',
    alert: 'WaxwingVendorOutage',
    series: { [`waxwing_app_outage{${relay},app="org.example.app"}`]: '0x10 1x20 0x90' },
    until: 13,
  },
  {
    name: 'a mass unregistration',
    alert: 'WaxwingDeletionsFrozen',
    series: {
      [`waxwing_app_breaker_open{${relay},app="org.example.app",kind="deletion"}`]: '0x10 2x20 0x90',
    },
    until: 12,
  },
  {
    name: 'a key list that is not renewed',
    alert: 'WaxwingKeyListExpires',
    series: {
      [`waxwing_key_list_expiry_timestamp_seconds{${relay}}`]: '649000x30 1728000x90',
      [`waxwing_key_list_issue_timestamp_seconds{${relay}}`]: '-1943000x30 -864000x90',
    },
    until: 25,
  },
  {
    name: 'a key ring older than the database',
    alert: 'WaxwingTokensUnreadable',
    series: { [`waxwing_unreadable_tokens{${relay}}`]: '0x10 40x20 0x90' },
    until: 18,
  },
  {
    name: 'a vendor that responds slowly',
    alert: 'WaxwingDeliveriesSlow',
    series: {
      [`waxwing_delivery_seconds_bucket{${fcm},le="0.3"}`]: '0+590x10 5900x30 5900+590x80',
      [`waxwing_delivery_seconds_bucket{${fcm},le="10"}`]: '0+600x10 6000x30 6000+600x80',
    },
    until: 35,
  },
  {
    name: 'rejections by a vendor',
    alert: 'WaxwingDeliveriesRejected',
    series: {
      [`waxwing_deliveries_total{${fcm},outcome="rejected",reason="QUOTA_EXCEEDED"}`]:
        '0+10x10 100+900x30 27100+10x80',
    },
    until: 35,
  },
  {
    name: 'push services that have stopped responding',
    alert: 'WaxwingPushServicesHeldBack',
    series: {
      [`waxwing_push_services{${relay},state="answering"}`]: '20x10 5x20 20x90',
      [`waxwing_push_services{${relay},state="held_back"}`]: '0x10 15x20 0x90',
    },
    until: 18,
  },
  {
    name: 'a server that exhausts its quota',
    alert: 'WaxwingServerUsesQuota',
    series: { [`waxwing_server_quota_used_ratio{${relay},server="a"}`]: '0.2x10 1x20 0.2x90' },
    until: 18,
  },
  {
    name: 'an unreachable relay',
    alert: 'WaxwingRelayAway',
    series: { [`waxwing_relay_up{${server}}`]: '1x10 0x20 1x90' },
    until: 18,
  },
  {
    name: 'a relay without credentials',
    alert: 'WaxwingRelayCannotDeliver',
    series: {
      [`waxwing_notification_results_total{${server},status="rejected",fault="relay-configuration",reason="APP_NOT_SERVED"}`]:
        '0x10 0+5x30 150x80',
    },
    until: 25,
  },
];
