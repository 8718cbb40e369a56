import { type ReadonlySignal, type Signal, signal } from '@preact/signals';
import { apiPath } from '../api/request.js';
import { checkSession } from '../session/session.js';

export type Connection = 'connecting' | 'live' | 'lost';

/** Time without data after which a stream counts as broken. The program sends the overview every 5 seconds. */
const silenceMilliseconds = 15_000;
const firstRetryMilliseconds = 1_000;
const longestRetryMilliseconds = 30_000;

const state: Signal<Connection> = signal('connecting');
export const connection: ReadonlySignal<Connection> = state;

/** Callback for each overview. */
type Take = (latest: { readonly now: number }) => void;
let take: Take = () => {};
let source: EventSource | undefined;
let timer: ReturnType<typeof setTimeout> | undefined;
let asking = new AbortController();
let retryMilliseconds = firstRetryMilliseconds;

/** Offset of the program's clock from this browser's, in milliseconds; positive if the program is ahead. */
let clockDifference = 0;

/** Returns the current time on the program's clock, in Unix milliseconds. Each overview updates the offset. */
export function programNow(): number {
  return Date.now() + clockDifference;
}

/** Opens the stream, and keeps it open with exponential backoff and jitter until `closeLive`. */
export function openLive(takeOverview: Take): void {
  take = takeOverview;
  open();
}

function open(): void {
  closeLive();
  source = new EventSource(`${apiPath}/events`);
  watch();
  source.addEventListener('overview', (event) => {
    const latest = JSON.parse(event.data);
    clockDifference = latest.now - Date.now();
    take(latest);
    state.value = 'live';
    retryMilliseconds = firstRetryMilliseconds;
    watch();
  });
  source.addEventListener('error', retryLater);
}

export function closeLive(): void {
  source?.close();
  asking.abort();
  clearTimeout(timer);
}

function watch(): void {
  clearTimeout(timer);
  timer = setTimeout(retryLater, silenceMilliseconds);
}

function retryLater(): void {
  closeLive();
  state.value = 'lost';
  const wait = retryMilliseconds * (0.5 + Math.random() / 2);
  retryMilliseconds = Math.min(retryMilliseconds * 2, longestRetryMilliseconds);
  timer = setTimeout(retryNow, wait);
}

/** Reopens the stream immediately. If the session has ended, shows the sign-in form instead. */
export async function retryNow(): Promise<void> {
  closeLive();
  const running = new AbortController();
  asking = running;
  try {
    // Sends a request first, because EventSource does not expose the status of an error response.
    await checkSession(running.signal);
    if (!running.signal.aborted) open();
  } catch {
    if (!running.signal.aborted) retryLater();
  }
}
