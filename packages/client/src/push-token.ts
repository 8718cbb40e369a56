import type { ApnsEnvironment } from '@waxwing/protocol/phone';

/** A push token from the phone's operating system. The client passes it on unchanged and preserves its case. */
export type PushToken =
  | { readonly tokenKind: 'fcm'; readonly token: string }
  /** A Web Push or UnifiedPush token; create it with `fromPushSubscription` or `fromUnifiedPush`. */
  | { readonly tokenKind: 'webpush'; readonly token: string }
  | {
      readonly tokenKind: 'apns';
      readonly token: string;
      /** The app's bundle id, such as `com.example.chat`. */
      readonly iosAppId: string;
      /** `sandbox` for builds installed by Xcode; default `production`. */
      readonly apnsEnvironment?: ApnsEnvironment;
    };
