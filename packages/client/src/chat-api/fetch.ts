/**
 * The platform's `fetch`, or a stand-in for it. Where the project's types know none, as those of a server may, a plain
 * one.
 */
export type Fetch = (url: string, init: FetchOptions) => Promise<FetchAnswer>;

// By inference, as the platform's own names would be errors in a project whose `lib` has no DOM.
type FetchOptions = typeof globalThis extends { fetch: (url: never, init?: infer Options) => unknown }
  ? NonNullable<Options>
  : PlainOptions;

type FetchAnswer = typeof globalThis extends { fetch: (url: never) => Promise<infer Answer> }
  ? Answer
  : PlainAnswer;

/** As much as the client says of a request. */
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

/** As much as the client reads of an answer. */
interface PlainAnswer {
  readonly ok: boolean;
  readonly status: number;
  readonly headers: { get(name: string): string | null };
  /** A stream of bytes, or nothing where the platform has read it all. */
  readonly body?: unknown;
  text(): Promise<string>;
}
