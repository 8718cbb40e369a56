import type { RelayApp } from '@waxwing/protocol';
import type { RelayLink } from '../relay-link/relay-link.js';
import { failed, type PushCheck, passed, sentenceOf } from './push-check.js';

const vendors = { fcm: 'Google', apns: 'Apple', webpush: 'The push service' } as const;

/** Checks that the relay can deliver to the apps that the organization's devices use. */
export async function checkApps(link: Pick<RelayLink, 'fetchApps'>): Promise<PushCheck[]> {
  const outcome = await link.fetchApps();
  if (outcome.kind === 'refused-for-good') {
    return [passed('apps', 'The relay does not report which apps it can deliver to, like any stock relay.')];
  }
  if (outcome.kind === 'retry') {
    return [failed('apps', sentenceOf(outcome.reason), "Ask the relay's operator to look at its log.")];
  }
  const { has_credentials: hasCredentials, apps } = outcome.answer;
  if (!hasCredentials) {
    const remedy = "Ask the relay's operator to set RELAY_APPS_FILE to a file with the app's credentials.";
    return [failed('apps', 'The relay has no credentials for any app, so it delivers nothing.', remedy)];
  }
  if (apps.length === 0) {
    return [
      passed('apps', 'The relay has credentials; no phone of this organization is registered there yet.'),
    ];
  }
  return apps.map(checkApp);
}

function checkApp({ vendor, ios_app_id: iosAppId, devices, trouble }: RelayApp): PushCheck {
  const app = appOf(vendor, iosAppId);
  const whose = `${devices} ${devices === 1 ? 'device' : 'devices'} of ${app}`;
  if (trouble === null) return passed('apps', `The relay can deliver to ${whose}.`);
  if (trouble === 'no-credentials') {
    const remedy = `Ask the relay's operator to add ${app} to its apps file.`;
    return failed('apps', `The relay has no credentials for ${whose}.`, remedy);
  }
  if (trouble === 'credentials-refused') {
    const remedy = "Ask the relay's operator to run waxwing-relay apps check, which says how to fix it.";
    return failed('apps', `${vendors[vendor]} refuses the relay's credentials for ${whose}.`, remedy);
  }
  const statusPage = vendor === 'webpush' ? 'the push service' : vendors[vendor];
  const remedy = `Wait: the relay retries automatically. The status page of ${statusPage} may say more.`;
  return failed('apps', `${vendors[vendor]} currently accepts no notifications for ${whose}.`, remedy);
}

function appOf(vendor: RelayApp['vendor'], iosAppId: string | undefined): string {
  if (vendor === 'webpush') return 'the Web Push app';
  return vendor === 'apns' ? `the Apple app ${iosAppId}` : 'the Android app';
}
