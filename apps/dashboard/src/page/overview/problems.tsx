import type { Overview } from '../api/answers.js';

/** What is wrong right now, each with its remedy first; one calm sentence when nothing is. */
export function Problems({ overview }: { readonly overview: Overview }) {
  const wrong = overview.checks.filter(({ ok }) => !ok);
  const fine = overview.checks.length - wrong.length;
  return (
    <section aria-labelledby="problems-title">
      <h2 id="problems-title">What is wrong right now</h2>
      {wrong.length === 0 ? (
        <p class="panel all-good">
          Nothing. {fine === 1 ? 'The one check passes.' : `All ${fine} checks pass.`}
        </p>
      ) : (
        <ul class="problems">
          {wrong.map(({ name, cause, remedy }) => (
            <li key={name} class="panel">
              <h3>{name}</h3>
              {remedy !== undefined && <p class="remedy">{remedy}</p>}
              {cause !== undefined && <p class="soft">{cause}</p>}
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}
