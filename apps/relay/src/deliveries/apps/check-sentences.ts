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

const busy = 'the vendor cannot check the credential now, so try again in a few minutes';

/**
 * Explains why FCM refuses a Firebase project's credential, and how to fix the credential. Returns `undefined` if FCM
 * accepts it.
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
      return `${app.tokenUri} refuses the service account in ${file} (HTTP ${httpStatus}): check that this machine's clock is correct, then create a new key for the service account and save it there.`;
    case 'OAUTH_UNAVAILABLE':
      return `${app.tokenUri} returns no access token: check that this machine can reach it and that no proxy answers in its place, then try again.`;
    case 'UNAUTHENTICATED':
      return `FCM refuses the access token of ${file}: create a new key for the service account and save it there.`;
    case 'PERMISSION_DENIED':
      return `the service account in ${file} may not send for the project ${projectId}: enable the Firebase Cloud Messaging API there and give the account the role "Firebase Cloud Messaging API Admin", or correct "project".`;
    case 'NOT_FOUND':
      return `FCM does not know the project ${projectId}: correct "project" in the apps file.`;
    case 'INVALID_ARGUMENT':
      return `FCM rejects the message, not the token (INVALID_ARGUMENT): check that "address_by" matches the kind of id that this project's phones register.`;
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
 * Explains why Apple refuses a team's key for a bundle id, and how to fix the problem. Returns `undefined` if Apple
 * accepts the key.
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
      // Mentions the clock, because Apple gives the same reason for a token that is dated in the future.
      return `Apple refuses ${key} with ${reason}: check that this machine's clock is correct, that key_id, team_id and file belong together and that the key is not revoked, or create a new key.`;
    case 'MissingProviderToken':
    case 'Forbidden':
      return `Apple refuses ${key} with ${reason}: check that key_id, team_id and file belong together and that the key is not revoked, or create a new key.`;
    case 'ExpiredProviderToken':
      return `Apple rejects a token that was just signed with ${key} as too old: correct this machine's clock, which is behind.`;
    case 'BadEnvironmentKeyIdInToken':
    case 'BadCertificateEnvironment':
      return `${key} is not valid for production: create one for both of Apple's environments.`;
    case 'TopicDisallowed':
    case 'BadTopic':
    case 'UnrelatedKeyIdInToken':
      return `${key} may not send to ${topic} (${reason}): check that it is a bundle id of that team with push notifications enabled and that the key is not restricted to others.`;
    case 'TooManyProviderTokenUpdates':
      return `Apple has received too many new tokens of ${key}: check that no other program signs with it, and try again in 20 minutes.`;
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
  return `${url} accepts a message for a token that no phone has, which the vendor would not do: check that the address is the vendor's and that no proxy answers in its place.`;
}

function foreign(url: string, httpStatus: number, reason: string): string {
  const named = reason === 'UNKNOWN' ? 'without a reason from the vendor' : reason;
  return `${url} answers HTTP ${httpStatus} ${named}: check that the address is the vendor's and that no proxy answers in its place.`;
}

function unanswered(url: string, why: string): string {
  return `${url} does not answer (${why}): check that this machine can reach it and trusts its certificate, then try again.`;
}
