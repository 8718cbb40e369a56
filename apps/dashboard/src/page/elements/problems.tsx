interface ProblemsProps {
  readonly checks: readonly {
    readonly name: string;
    readonly ok: boolean;
    readonly cause?: string;
    readonly remedy?: string;
  }[];
  /** Pages on which failed checks can be fixed, by the check's name. */
  readonly pages: Readonly<Record<string, { readonly link: string; readonly name: string }>>;
}

/** Lists failed checks, remedy first. Shows a message if all checks pass. */
export function Problems({ checks, pages }: ProblemsProps) {
  const wrong = checks.filter(({ ok }) => !ok);
  const fine = checks.length - wrong.length;
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
              <PageLink page={pages[name]} />
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

function PageLink({ page }: { readonly page: ProblemsProps['pages'][string] | undefined }) {
  if (page === undefined) return null;
  return (
    <p>
      <a href={page.link}>Open {page.name}</a>
    </p>
  );
}
