/**
 * The part of `ServiceWorkerGlobalScope` that this package uses. TypeScript's built-in worker types conflict with its
 * DOM types.
 */
export interface WorkerScope {
  readonly registration: {
    /** The URL prefix of the pages that the worker controls. */
    readonly scope: string;
    readonly pushManager: {
      subscribe(options: { userVisibleOnly: true; applicationServerKey: ArrayBuffer }): Promise<unknown>;
    };
    showNotification(title: string, options: ShownOptions): Promise<void>;
    getNotifications(filter?: { tag: string }): Promise<readonly VisibleNotification[]>;
  };
  readonly clients: {
    matchAll(options: { type: 'window'; includeUncontrolled: true }): Promise<readonly WindowClient[]>;
    openWindow(url: string): Promise<unknown>;
  };
  addEventListener<Name extends keyof WorkerEvents>(
    name: Name,
    listener: (event: WorkerEvents[Name]) => void,
  ): void;
}

interface LongEvent {
  /** Keeps the worker alive until the promise settles. */
  waitUntil(work: Promise<unknown>): void;
}

export interface WorkerEvents {
  push: LongEvent & { readonly data: { text(): string } | null };
  notificationclick: LongEvent & { readonly notification: VisibleNotification };
  pushsubscriptionchange: LongEvent & {
    readonly oldSubscription?: {
      /** Absent if the browser does not report the key. */
      readonly options?: { readonly applicationServerKey?: ArrayBuffer | null };
    } | null;
    readonly newSubscription?: object | null;
  };
}

/** Options of `showNotification`. */
interface ShownOptions {
  readonly body: string;
  /** A new notification replaces a visible notification with the same tag. */
  readonly tag: string;
  readonly silent: boolean;
  /** Whether to alert the user even if the notification replaces another one. */
  readonly renotify: boolean;
  readonly icon?: string;
  readonly data: unknown;
}

export interface VisibleNotification {
  readonly title: string;
  readonly tag: string;
  readonly icon?: string;
  readonly data: unknown;
  close(): void;
}

interface WindowClient {
  readonly url: string;
  readonly visibilityState: 'visible' | 'hidden';
  focus(): Promise<WindowClient>;
  navigate(url: string): Promise<WindowClient | null>;
  postMessage(message: unknown): void;
}
