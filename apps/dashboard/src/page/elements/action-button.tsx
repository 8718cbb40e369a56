import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { sentenceOf } from '../api/resource.js';
import { announce } from './notice.js';

interface ActionButtonProps {
  readonly act: () => Promise<void>;
  /** The full name for screen readers, where the text alone does not say what it acts on. */
  readonly name?: string;
  readonly className?: string;
  readonly children: ComponentChildren;
}

/** A button that acts at once. A failure is announced; while the action runs, another click does nothing. */
export function ActionButton({ act, name, className = '', children }: ActionButtonProps) {
  const isBusy = useSignal(false);
  async function click(): Promise<void> {
    if (isBusy.value) return;
    isBusy.value = true;
    try {
      await act();
    } catch (error) {
      announce(sentenceOf(error), 'bad');
    } finally {
      isBusy.value = false;
    }
  }
  return (
    <button
      type="button"
      class={className}
      aria-label={name}
      aria-disabled={isBusy.value}
      aria-busy={isBusy.value}
      onClick={click}
    >
      {children}
    </button>
  );
}
