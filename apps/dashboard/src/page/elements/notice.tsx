import { type Signal, signal } from '@preact/signals';

interface Notice {
  readonly tone: 'good' | 'bad';
  readonly text: string;
}

const state: Signal<Notice | undefined> = signal(undefined);

/** Shows the result of an action. Screen readers announce it. */
export function announce(text: string, tone: Notice['tone'] = 'good'): void {
  state.value = { tone, text };
}

export function dismissNotice(): void {
  state.value = undefined;
}

/** Shows the result of the last action until the user dismisses it or opens another page. */
export function NoticeBar() {
  const shown = state.value;
  return (
    <div class="notice-place">
      <div role="status">{shown !== undefined && <p class={`notice ${shown.tone}`}>{shown.text}</p>}</div>
      {shown !== undefined && (
        <button type="button" class="quiet" onClick={dismissNotice}>
          Dismiss
        </button>
      )}
    </div>
  );
}
