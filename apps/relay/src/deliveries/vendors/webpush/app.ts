import type { ServedRealms } from '../choose-app.js';

/** A Web Push app: a VAPID key pair in the key ring, and the push services that the app's phones may use. */
export interface WebPushApp extends ServedRealms {
  readonly vendor: 'webpush';
  /** Name of the app, and of its key pair. */
  readonly name: string;
  /** URL (`mailto:` or `https:`) that push services can use to contact the operator. */
  readonly contact: string;
  /**
   * Hosts of push services, such as `push.example`, `*.push.example` and `push.example:8443`, or `*` for any public
   * host on port 443.
   */
  readonly hosts: readonly string[] | '*';
}
