import { useEffect } from 'preact/hooks';
import type { AuditPage as AuditAnswer, AuditEntry } from '../api/answers.js';
import { PagedResource, query } from '../api/paged-resource.js';
import { get } from '../api/request.js';
import { LoadMore } from '../elements/load-more.js';
import { Empty, LoadedView } from '../elements/loaded-view.js';
import { PageHeader } from '../elements/page-header.js';
import { ScrollTable } from '../elements/scroll-table.js';
import { Time } from '../elements/time.js';

const auditLog = new PagedResource<AuditEntry>(async (after, abort) => {
  const page = await get<AuditAnswer>(`/audit${query({ after, limit: 50 })}`, abort);
  return { items: page.entries, next: page.next };
});

/** Page with the audit log, newest entry first. */
export function AuditPage() {
  const load = () => auditLog.load();
  useEffect(() => {
    load();
  }, []);
  return (
    <>
      <PageHeader title="Audit log">
        <button type="button" onClick={load}>
          Reload
        </button>
      </PageHeader>
      <LoadedView state={auditLog.resource.state.value} retry={load}>
        {({ items }) =>
          items.length === 0 ? <Empty>Nothing has been changed yet.</Empty> : <AuditTable entries={items} />
        }
      </LoadedView>
      <LoadMore list={auditLog} />
    </>
  );
}

function AuditTable({ entries }: { readonly entries: readonly AuditEntry[] }) {
  return (
    <ScrollTable label="Table of changes" className="rows">
      <thead>
        <tr>
          <th scope="col">When</th>
          <th scope="col">Actor</th>
          <th scope="col">Action</th>
          <th scope="col">Subject</th>
          <th scope="col">Detail</th>
        </tr>
      </thead>
      <tbody>
        {entries.map(({ id, at, actor, action, subject, detail }) => (
          <tr key={id}>
            <td data-label="When">
              <Time at={at} />
            </td>
            <td data-label="Actor">{actor}</td>
            <td data-label="Action">
              <code>{action}</code>
            </td>
            <td data-label="Subject" class="reason">
              {subject || '–'}
            </td>
            <td data-label="Detail" class="reason">
              {detail || '–'}
            </td>
          </tr>
        ))}
      </tbody>
    </ScrollTable>
  );
}
