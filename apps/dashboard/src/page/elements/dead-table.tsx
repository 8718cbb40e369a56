import { ActionButton } from './action-button.js';
import { count } from './count.js';
import { ScrollTable } from './scroll-table.js';
import { Time } from './time.js';

/** A dead letter: a job that the program has given up on. */
interface DeadRow {
  readonly id: string;
  readonly kind: string;
  readonly reason: string;
  readonly attempts: number;
  /** Unix milliseconds. */
  readonly died_at: number;
  readonly server?: string;
}

interface DeadTableProps<Row extends DeadRow> {
  readonly label: string;
  readonly rows: readonly Row[];
  /** Whether to show a column with the server of each job. */
  readonly hasServers: boolean;
  /** Unix milliseconds. */
  readonly now: number;
  retry(row: Row): Promise<void>;
}

/** Table of dead letters. Each has its reason and a retry button. */
export function DeadTable<Row extends DeadRow>({ label, rows, hasServers, now, retry }: DeadTableProps<Row>) {
  return (
    <ScrollTable label={label} className="rows">
      <thead>
        <tr>
          <th scope="col">Job</th>
          <th scope="col">Reason</th>
          {hasServers && <th scope="col">Server</th>}
          <th scope="col" class="number">
            Attempts
          </th>
          <th scope="col">Given up</th>
          <th scope="col">
            <span class="unseen">Action</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={row.id}>
            <th scope="row" data-label="Job">
              <span class="name">{row.kind}</span>
              <code class="soft id">{row.id}</code>
            </th>
            <td data-label="Reason" class="reason">
              {row.reason}
            </td>
            {hasServers && (
              <td data-label="Server">
                {row.server === undefined ? '–' : <code class="soft">{row.server}</code>}
              </td>
            )}
            <td data-label="Attempts" class="number">
              {count(row.attempts)}
            </td>
            <td data-label="Given up">
              <Time at={row.died_at} now={now} />
            </td>
            <td class="row-action">
              <ActionButton act={() => retry(row)} name={`Retry ${row.kind} ${row.id}`}>
                Retry
              </ActionButton>
            </td>
          </tr>
        ))}
      </tbody>
    </ScrollTable>
  );
}
