import type { ComponentChildren } from 'preact';
import type { Loaded } from '../api/resource.js';

interface LoadedViewProps<Answer> {
  readonly state: Loaded<Answer>;
  readonly retry: () => void;
  readonly children: (answer: Answer) => ComponentChildren;
}

/** Shows a loaded resource, a loading state, or an error with a retry button. */
export function LoadedView<Answer>({ state, retry, children }: LoadedViewProps<Answer>) {
  if (state.kind === 'loading') {
    return (
      <p class="panel loading" role="status">
        Loading …
      </p>
    );
  }
  const { error } = state;
  return (
    <>
      {error !== undefined && (
        <div class="panel failure" role="alert">
          <p>{error}</p>
          <button type="button" onClick={retry}>
            Try again
          </button>
        </div>
      )}
      {state.kind === 'ready' && children(state.answer)}
    </>
  );
}

/** Placeholder for an empty list. */
export function Empty({ children }: { readonly children: ComponentChildren }) {
  return <p class="panel empty">{children}</p>;
}
