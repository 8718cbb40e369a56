import type { DeliveriesConfiguration } from '../deliveries-configuration.js';
import type { ApnsApp } from '../vendors/apns/app.js';
import type { FcmApp } from '../vendors/fcm/app.js';
import type { VendorAnswer } from '../vendors/vendor-sender.js';

export interface CheckedFcm {
  readonly app: FcmApp;
  readonly answer: VendorAnswer;
  readonly url: DeliveriesConfiguration['fcmBaseUrl'];
}

export interface CheckedApns {
  readonly app: ApnsApp;
  readonly answer: VendorAnswer;
  /** The bundle id that was checked. */
  readonly topic: string;
  readonly url: string;
}

const busy = 'the vendor cannot judge the credential now, so ask again in a few minutes';

/**
 * Explains from FCM's answer what is wrong with a Firebase project's credential, and what to do. Returns `undefined` if
 * the credential is good.
 */
export function describeFcmTrouble({ app, answer, url }: CheckedFcm): string | undefined {
  if (answer.kind === 'accepted') return tookImpossibleToken(url);
  if (answer.kind === 'unanswered') return unanswered(url, answer.why);
  const { reason, httpStatus } = answer;
  const { projectId, serviceAccountFile: file } = app;
  switch (reason) {
    case 'INVALID_TOKEN':
      return httpStatus === 400 ? undefined : foreign(url, httpStatus, reason);
    case 'UNREGISTERED':
      return httpStatus === 404 ? undefined : foreign(url, httpStatus, reason);
    case 'OAUTH_REFUSED':
      return `${app.tokenUri} refuses the service account in ${file} (HTTP ${httpStatus}): see that this machine's clock is right, then make a new key of the service account and put it there.`;
    case 'OAUTH_UNAVAILABLE':
      return `${app.tokenUri} gives no access token: see that this machine can reach it and that no proxy answers in its place, then ask again.`;
    case 'UNAUTHENTICATED':
      return `FCM refuses the access token of ${file}: make a new key of the service account and put it there.`;
    case 'PERMISSION_DENIED':
      return `the service account in ${file} may not send for the project ${projectId}: enable the Firebase Cloud Messaging API there and give the account the role "Firebase Cloud Messaging API Admin", or mend "project".`;
    case 'NOT_FOUND':
      return `FCM knows no project ${projectId}: mend "project" in the apps file.`;
    case 'INVALID_ARGUMENT':
      return `FCM does not blame the token but the message (INVALID_ARGUMENT): see that "address_by" says what this project's phones register with.`;
    case 'QUOTA_EXCEEDED':
    case 'RESOURCE_EXHAUSTED':
    case 'INTERNAL':
    case 'UNAVAILABLE':
    case 'UNSPECIFIED_ERROR':
      return `FCM answers ${reason}: ${busy}.`;
    default:
      return foreign(url, httpStatus, reason);
  }
}

/**
 * Explains from Apple's answer what is wrong with a team's key or one of its bundle ids. Returns `undefined` if the
 * key is good.
 */
export function describeApnsTrouble({ app, answer, topic, url }: CheckedApns): string | undefined {
  if (answer.kind === 'accepted') return tookImpossibleToken(url);
  if (answer.kind === 'unanswered') return unanswered(url, answer.why);
  const { reason, httpStatus } = answer;
  const key = `the key ${app.keyId} of team ${app.teamId} (${app.keyFile})`;
  switch (reason) {
    case 'BadDeviceToken':
      return httpStatus === 400 ? undefined : foreign(url, httpStatus, reason);
    case 'InvalidProviderToken':
      // Names the clock, because Apple refuses a token that is dated in the future with the same reason.
      return `Apple refuses ${key} with ${reason}: see that this machine's clock is right, that key_id, team_id and file belong together and that the key is not revoked, or make a new one.`;
    case 'MissingProviderToken':
    case 'Forbidden':
      return `Apple refuses ${key} with ${reason}: see that key_id, team_id and file belong together and that the key is not revoked, or make a new one.`;
    case 'ExpiredProviderToken':
      return `Apple calls a token that ${key} has just signed too old: set this machine's clock, which is behind.`;
    case 'BadEnvironmentKeyIdInToken':
    case 'BadCertificateEnvironment':
      return `${key} is not made for production: make one for both of Apple's systems.`;
    case 'TopicDisallowed':
    case 'BadTopic':
    case 'UnrelatedKeyIdInToken':
      return `${key} may not send to ${topic} (${reason}): see that it is a bundle id of that team with push notifications enabled and that the key is not restricted to others.`;
    case 'TooManyProviderTokenUpdates':
      return `Apple has received too many new tokens of ${key}: see that no other program signs with it, and ask again in 20 minutes.`;
    case 'TooManyRequests':
    case 'InternalServerError':
    case 'ServiceUnavailable':
    case 'Shutdown':
    case 'IdleTimeout':
      return `APNs answers ${reason}: ${busy}.`;
    default:
      return foreign(url, httpStatus, reason);
  }
}

function tookImpossibleToken(url: string): string {
  return `${url} takes a message for a token that no phone has, which the vendor does not do: see that the address is the vendor's and that no proxy answers in its place.`;
}

function foreign(url: string, httpStatus: number, reason: string): string {
  const named = reason === 'UNKNOWN' ? 'without a reason of the vendor' : reason;
  return `${url} answers HTTP ${httpStatus} ${named}: see that the address is the vendor's and that no proxy answers in its place.`;
}

function unanswered(url: string, why: string): string {
  return `${url} gives no answer (${why}): see that this machine can reach it and trusts its certificate, then ask again.`;
}
