/** Type of the platform's `fetch`, or an equivalent type if the project's types do not declare `fetch`. */
export type Fetch = (url: string, init: FetchOptions) => Promise<FetchAnswer>;

/** Calls the platform's current `fetch`, which tests and polyfills may replace at any time. */
export const platformFetch: Fetch = (url, init) => globalThis.fetch(url, init);

// These types are inferred: naming the DOM types would be an error in a project without the DOM `lib`.
type FetchOptions = typeof globalThis extends { fetch: (url: never, init?: infer Options) => unknown }
  ? NonNullable<Options>
  : PlainOptions;

type FetchAnswer = typeof globalThis extends { fetch: (url: never) => Promise<infer Answer> }
  ? Answer
  : PlainAnswer;

/** The request options that the client uses. */
interface PlainOptions {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly redirect?: 'error';
  readonly credentials?: 'omit';
  readonly cache?: 'no-store';
  readonly mode?: 'no-cors';
  /** The platform's `AbortSignal`. */
  readonly signal?: { readonly aborted: boolean };
}

/** The parts of a response that the client reads. */
interface PlainAnswer {
  readonly status: number;
  readonly headers: { get(name: string): string | null };
  /** A stream of bytes; absent if the platform has already read all of it. */
  readonly body?: unknown;
  text(): Promise<string>;
}
