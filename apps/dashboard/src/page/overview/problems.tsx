import type { Overview } from '../api/answers.js';

/** Pages on which the operator can fix a failed check, by the check's name. */
const pagesOfChecks: Readonly<Record<string, { readonly link: string; readonly name: string }>> = {
  keys: { link: '#/keys', name: 'Keys' },
  'key list': { link: '#/keys', name: 'Keys' },
  vendors: { link: '#/apps', name: 'Apps' },
  deletions: { link: '#/deliveries', name: 'Deliveries' },
  'dead letters': { link: '#/deliveries', name: 'Deliveries' },
};

/** Failed checks, each with its remedy first, or a sentence that all checks pass. */
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
              <PageLink name={name} />
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

function PageLink({ name }: { readonly name: string }) {
  const page = pagesOfChecks[name];
  if (page === undefined) return null;
  return (
    <p>
      <a href={page.link}>Open {page.name}</a>
    </p>
  );
}
