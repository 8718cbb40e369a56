export interface Figure {
  readonly name: string;
  readonly value: string;
  readonly notes: readonly string[];
}

interface FigureListProps {
  readonly title: string;
  readonly figures: readonly Figure[];
}

/** A titled list of figures with their names and notes. */
export function FigureList({ title, figures }: FigureListProps) {
  return (
    <section aria-labelledby="figures-title">
      <h2 id="figures-title">{title}</h2>
      <dl class="figures">
        {figures.map(({ name, value, notes }) => (
          <div key={name} class="panel figure">
            <dt>{name}</dt>
            <dd class="value">{value}</dd>
            <dd class="soft notes">
              {notes.map((note) => (
                <span key={note}>{note}</span>
              ))}
            </dd>
          </div>
        ))}
      </dl>
    </section>
  );
}
