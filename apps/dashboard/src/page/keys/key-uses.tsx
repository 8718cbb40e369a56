import type { RingKey } from '../api/answers.js';
import { count, counted } from '../elements/count.js';
import { ScrollTable } from '../elements/scroll-table.js';

const barWidth = 10;
const height = 40;

/** Shows how many registrations a key opened on each day, as bars and as a table. */
export function KeyUses({ ringKey }: { readonly ringKey: RingKey }) {
  const days = ringKey.use_per_day;
  const sum = days.reduce((total, { registrations }) => total + registrations, 0);
  if (sum === 0)
    return <p class="soft">No registration used this key in the last {counted(days.length, 'day')}.</p>;
  const highest = Math.max(...days.map(({ registrations }) => registrations));
  const summary = `${counted(sum, 'registration')} in ${counted(days.length, 'day')}, at most ${count(highest)} a day`;
  return (
    <div class="uses">
      <svg
        class="bars"
        viewBox={`0 0 ${days.length * barWidth} ${height}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={summary}
      >
        {days.map(({ day, registrations }, index) => {
          const tall = registrations === 0 ? 1 : Math.max((registrations / highest) * height, 2);
          return (
            <rect key={day} x={index * barWidth + 1} y={height - tall} width={barWidth - 2} height={tall} />
          );
        })}
      </svg>
      <p class="soft">{summary}</p>
      <details>
        <summary>Use per day as a table</summary>
        <ScrollTable label={`Use of key ${ringKey.id} per day`} className="minutes">
          <thead>
            <tr>
              <th scope="col">Day</th>
              <th scope="col" class="number">
                Registrations
              </th>
            </tr>
          </thead>
          <tbody>
            {[...days].reverse().map(({ day, registrations }) => (
              <tr key={day}>
                <th scope="row">{day}</th>
                <td class="number">{count(registrations)}</td>
              </tr>
            ))}
          </tbody>
        </ScrollTable>
      </details>
    </div>
  );
}
