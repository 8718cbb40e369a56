import { type ReadonlySignal, useSignal } from '@preact/signals';
import { sentenceOf } from '../api/resource.js';

interface Submission {
  readonly isBusy: ReadonlySignal<boolean>;
  /** The message of the last failure, until the form is submitted again. */
  readonly error: ReadonlySignal<string | undefined>;
  submit(event: SubmitEvent): Promise<void>;
}

/** Handles form submissions, one at a time. `act` rejects with an `ApiError` if the program refuses the request. */
export function useSubmission(act: (form: HTMLFormElement) => Promise<void>): Submission {
  const isBusy = useSignal(false);
  const error = useSignal<string | undefined>(undefined);
  return {
    isBusy,
    error,
    async submit(event) {
      event.preventDefault();
      if (isBusy.value) return;
      isBusy.value = true;
      error.value = undefined;
      try {
        await act(event.currentTarget as HTMLFormElement);
      } catch (failure) {
        error.value = sentenceOf(failure);
      } finally {
        isBusy.value = false;
      }
    },
  };
}

/** Returns the trimmed text of a form field. */
export function fieldOf(form: HTMLFormElement, name: string): string {
  return String(new FormData(form).get(name) ?? '').trim();
}
