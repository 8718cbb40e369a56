import { count } from '../../page/elements/count.js';
import { Empty } from '../../page/elements/loaded-view.js';
import { ScrollTable } from '../../page/elements/scroll-table.js';
import type { DeviceCounts } from '../answers.js';

const kindNames: Readonly<Record<string, string>> = {
  fcm: 'Google (FCM)',
  apns: 'Apple (APNs)',
  webpush: 'Web Push',
  '': 'without a token',
};

/** Table of the organization's devices by vendor and state. */
export function DeviceTable({ devices }: { readonly devices: readonly DeviceCounts[] }) {
  return (
    <section aria-labelledby="devices-title">
      <h2 id="devices-title">Devices</h2>
      {devices.length === 0 ? (
        <Empty>None. No phone has registered for push yet.</Empty>
      ) : (
        <ScrollTable label="Table of devices" className="rows">
          <thead>
            <tr>
              <th scope="col">Vendor</th>
              <th scope="col" class="number">
                Registered
              </th>
              <th scope="col" class="number">
                Pending
              </th>
              <th scope="col" class="number">
                Failed
              </th>
            </tr>
          </thead>
          <tbody>
            {devices.map(({ kind, active, pending, failed }) => (
              <tr key={kind}>
                <th scope="row" data-label="Vendor">
                  {kindNames[kind] ?? kind}
                </th>
                <td data-label="Registered" class="number">
                  {count(active)}
                </td>
                <td data-label="Pending" class="number">
                  {count(pending)}
                </td>
                <td data-label="Failed" class="number">
                  {count(failed)}
                </td>
              </tr>
            ))}
          </tbody>
        </ScrollTable>
      )}
    </section>
  );
}
