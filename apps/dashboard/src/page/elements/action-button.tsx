import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { sentenceOf } from '../api/resource.js';
import { announce } from './notice.js';

interface ActionButtonProps {
  readonly act: () => Promise<void>;
  /** Full name for screen readers, if the visible text does not name the object of the action. */
  readonly name?: string;
  readonly className?: string;
  readonly children: ComponentChildren;
}

/** A button that runs an action immediately and announces failures. Ignores clicks while the action is in flight. */
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
