import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { Empty, LoadedView } from '../elements/loaded-view.js';
import { PageHeader } from '../elements/page-header.js';
import { KeyCard } from './key-card.js';
import { inOrder, keyRing } from './key-ring.js';
import { ListKeys } from './list-keys.js';
import { RingTimeline } from './ring-timeline.js';
import { RotateDialog } from './rotate-dialog.js';

/** Page with the key ring: its timeline, each key with its use, and the key list. */
export function KeysPage() {
  const isRotating = useSignal(false);
  const load = () => keyRing.load();
  useEffect(() => {
    load();
  }, []);
  return (
    <>
      <PageHeader title="Keys">
        <button type="button" class="primary" onClick={() => (isRotating.value = true)}>
          Rotate …
        </button>
      </PageHeader>
      <LoadedView state={keyRing.state.value} retry={load}>
        {(ring) =>
          ring.keys.length === 0 ? (
            <Empty>The ring has no key. Rotate to create the first one.</Empty>
          ) : (
            <>
              <RingTimeline ring={ring} />
              <ListKeys ring={ring} />
              <section aria-labelledby="keys-title">
                <h2 id="keys-title">Each key</h2>
                <ul class="cards">
                  {[...inOrder(ring)].reverse().map((key) => (
                    <KeyCard key={key.id} ringKey={key} now={ring.now} />
                  ))}
                </ul>
              </section>
            </>
          )
        }
      </LoadedView>
      {isRotating.value && <RotateDialog close={() => (isRotating.value = false)} />}
    </>
  );
}
