import type { KeyRing } from '../api/answers.js';
import { post } from '../api/request.js';
import { ConfirmDialog } from '../elements/confirm-dialog.js';
import { announce } from '../elements/notice.js';
import { keyRing } from './key-ring.js';

/** Dialog that explains the consequences and creates a new primary key. */
export function RotateDialog({ close }: { readonly close: () => void }) {
  async function act(): Promise<void> {
    const ring = await post<KeyRing>('/keys/rotate');
    keyRing.set(ring);
    const primary = ring.keys.find(({ state }) => state === 'primary');
    announce(primary === undefined ? 'The keys are rotated.' : `Key ${primary.id} is the new primary key.`);
  }
  return (
    <ConfirmDialog title="Rotate the keys?" verb="Rotate" act={act} close={close}>
      <p>The relay creates a new primary key and publishes it in the key list.</p>
      <p class="answer good">
        This is safe: the relay still opens registrations that are sealed to the current key, and phones
        switch to the new key on their own.
      </p>
    </ConfirmDialog>
  );
}
