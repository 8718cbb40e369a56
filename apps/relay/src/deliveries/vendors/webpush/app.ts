import type { ServedRealms } from '../choose-app.js';

/** A Web Push app: one VAPID key pair of the key ring, and the push services that its phones may use. */
export interface WebPushApp extends ServedRealms {
  readonly vendor: 'webpush';
  /** Name of the app, and of its key pair. */
  readonly name: string;
  /** Contact of the operator for push services: a `mailto:` or `https:` URL. */
  readonly contact: string;
  /**
   * Hosts of push services, such as `push.example`, `*.push.example` and `push.example:8443`; `*` for any public host on
   * port 443.
   */
  readonly hosts: readonly string[] | '*';
}
