import { readFileSync } from 'node:fs';
import {
  deliveryFaults,
  deliveryStatuses,
  maximumCollapseIdBytes,
  maximumReceiptIds,
  maximumTimeToLiveSeconds,
  relayNotifyRequest,
  relayReceiptsPath,
} from '@waxwing/protocol';
import { EnvironmentReader } from '@waxwing/service/config';
import { Metrics } from '@waxwing/service/metrics';
import { describe, expect, it } from 'vitest';
import { readDeliveriesEnvironment } from '#relay/deliveries/deliveries-configuration.js';
import { DeliveryMetrics } from '#relay/deliveries/delivery-metrics.js';

const page = readFileSync(new URL('../../../../docs/deliveries.md', import.meta.url), 'utf8');

/** Parses the table rows under a heading. Returns the names in backquotes in the first cell, and the other cells. */
function rowsUnder(heading: string): [names: string[], rest: string][] {
  const [, section = ''] = page.split(`\n## ${heading}\n`);
  const [own = ''] = section.split('\n## ');
  return [...own.matchAll(/^\| ([^|]+) \| (.+) \|$/gm)].flatMap(([, first = '', rest = '']) => {
    const names = [...first.matchAll(/`(\w+)`/g)].map(([, name]) => name as string);
    return names.length === 0 ? [] : [[names, rest]];
  });
}

describe('docs/deliveries.md', () => {
  it('lists the settings with their defaults', () => {
    const read: string[] = [];
    const environment = new Proxy({}, { get: (_target, name) => void read.push(String(name)) });
    const { fcmBaseUrl, notificationsPerMinute, maximumInFlight, maximumQueued } = readDeliveriesEnvironment(
      new EnvironmentReader(environment, 'RELAY_'),
    );
    const rows = rowsUnder('Settings');
    // RELAY_APPS_FILE has a separate page, and RELAY_CA_FILE applies to all outgoing connections.
    expect([...rows.flatMap(([names]) => names), 'RELAY_APPS_FILE'].sort()).toEqual(
      [...new Set([...read, 'RELAY_CA_FILE'])].sort(),
    );
    const defaultOf = (setting: string) => rows.find(([names]) => names.includes(setting))?.[1];
    expect(defaultOf('RELAY_FCM_BASE_URL')).toBe(`\`${fcmBaseUrl}\``);
    expect(Number.parseInt(defaultOf('RELAY_SERVER_NOTIFICATIONS_PER_MINUTE') ?? '', 10)).toBe(
      notificationsPerMinute,
    );
    expect(Number.parseInt(defaultOf('RELAY_MAXIMUM_NOTIFICATIONS_IN_FLIGHT') ?? '', 10)).toBe(
      maximumInFlight,
    );
    expect(Number.parseInt(defaultOf('RELAY_MAXIMUM_NOTIFICATIONS_QUEUED') ?? '', 10)).toBe(maximumQueued);
  });

  it('lists the fields of a request with their limits', () => {
    const rows = rowsUnder('Request fields and delivery statuses');
    const wishes = rows.slice(0, 3).flatMap(([names]) => names);
    expect(wishes).toEqual(['notification_id', 'ttl_seconds', 'collapse_id']);
    const accepts = (wish: object) => {
      const payload = { push_account_id: 1, encrypted_data: Buffer.alloc(60).toString('base64') };
      const request = { device_id: 1, fcm_priority: 'high', payload, ...wish };
      const realm_uuid = '9aa61d0b-8ce5-488d-8e9e-fedc346e6836';
      return relayNotifyRequest.safeParse({ realm_uuid, push_requests: [request] }).success;
    };
    expect(page).toContain(`0 to ${maximumTimeToLiveSeconds}`);
    expect(
      [0, maximumTimeToLiveSeconds, maximumTimeToLiveSeconds + 1, -1].map((ttl_seconds) =>
        accepts({ ttl_seconds }),
      ),
    ).toEqual([true, true, false, false]);
    expect(page).toContain(`1 to ${maximumCollapseIdBytes} printable characters`);
    expect(
      [1, maximumCollapseIdBytes, maximumCollapseIdBytes + 1, 0].map((length) =>
        accepts({ collapse_id: 'c'.repeat(length) }),
      ),
    ).toEqual([true, true, false, false]);
    expect(page).toContain(`${relayReceiptsPath}?ids=UUID,UUID\` (up to ${maximumReceiptIds})`);
  });

  it('lists every status and every fault', () => {
    const rows = rowsUnder('Request fields and delivery statuses').slice(4);
    expect(rows.flatMap(([names]) => names)).toEqual(deliveryStatuses);
    const [, rejected = ''] = rows.find(([names]) => names.includes('rejected')) ?? [];
    for (const fault of deliveryFaults) expect(rejected).toContain(`\`${fault}\``);
  });

  it('lists every delivery metric', async () => {
    const metrics = new Metrics();
    const none = [...(await metrics.text()).matchAll(/^# HELP (\w+)/gm)].map(([, name]) => name);
    new DeliveryMetrics(metrics);
    const names = [...(await metrics.text()).matchAll(/^# HELP (\w+)/gm)].map(([, name]) => name);
    const ours = names.filter((name) => !none.includes(name));
    expect(ours.length).toBeGreaterThan(3);
    for (const name of ours) expect(page).toContain(`\`${name}`);
  });
});
