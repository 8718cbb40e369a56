import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { FrozenApp, FrozenList } from '../api/answers.js';
import { get, post } from '../api/request.js';
import { Resource } from '../api/resource.js';
import { ConfirmDialog } from '../elements/confirm-dialog.js';
import { counted } from '../elements/count.js';
import { Empty, LoadedView } from '../elements/loaded-view.js';
import { vendorNames } from '../elements/names.js';
import { announce } from '../elements/notice.js';
import { Time } from '../elements/time.js';

const frozenList = new Resource<FrozenList>((abort) => get('/deliveries/frozen', abort));

/** Lists apps with frozen deletions. Deletions freeze when a vendor suddenly reports unusually many devices as gone. */
export function FrozenDeletions() {
  const load = () => frozenList.load();
  useEffect(() => {
    load();
  }, []);
  return (
    <section aria-labelledby="frozen-title">
      <h2 id="frozen-title">Frozen deletions</h2>
      <LoadedView state={frozenList.state.value} retry={load}>
        {({ frozen }) =>
          frozen.length === 0 ? (
            <Empty>None. The relay deletes devices as vendors report them gone.</Empty>
          ) : (
            <ul class="cards">
              {frozen.map((app) => (
                <FrozenCard key={`${app.vendor} ${app.app_id}`} app={app} />
              ))}
            </ul>
          )
        }
      </LoadedView>
    </section>
  );
}

function FrozenCard({ app }: { readonly app: FrozenApp }) {
  const isAsking = useSignal(false);
  async function thaw(): Promise<void> {
    await post('/deliveries/frozen/thaw', { app_id: app.app_id });
    await frozenList.load();
    announce(`The relay carries out deletions for ${app.app_id} again.`);
  }
  return (
    <li class="panel">
      <div class="key-head">
        <h3>{app.app_id}</h3>
        <button type="button" aria-label={`Thaw ${app.app_id}`} onClick={() => (isAsking.value = true)}>
          Thaw …
        </button>
      </div>
      <p class="soft">
        {vendorNames[app.vendor]}, since <Time at={app.since} />, {counted(app.held, 'deletion')} frozen
      </p>
      <p>{app.explanation}</p>
      {isAsking.value && (
        <ConfirmDialog
          title={`Thaw ${app.app_id}?`}
          verb="Thaw"
          isDanger
          act={thaw}
          close={() => (isAsking.value = false)}
        >
          <p>{app.explanation}</p>
          <p>
            The relay then deletes the {counted(app.held, 'device')} that the vendor reported as gone. Those
            phones must register again. Check the credential first.
          </p>
        </ConfirmDialog>
      )}
    </li>
  );
}
