import {
  type Answer,
  type DescribedOperation,
  nameOf,
  type ReferenceDocument,
  type Schema,
} from './document.js';
import { type Field, fieldsOf, listFields, shapeId, typeOf } from './fields.js';
import { code, escapeHtml, sentence } from './html.js';
import { style } from './style.js';

type Schemas = ReferenceDocument['components']['schemas'];

/** An operation with its heading, such as `GET /api/v1/messages`. */
interface Listed {
  readonly heading: string;
  readonly operation: DescribedOperation;
}

/** Whether a shape is a form. Forms have no section, because their fields are listed with their operation. */
const isForm = (name: string) => name.endsWith('_form');

/** Renders an OpenAPI document as an HTML page without scripts. */
export function renderReference({ info, paths, components }: ReferenceDocument): string {
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(
      ([method, operation]): Listed => ({ heading: `${method.toUpperCase()} ${path}`, operation }),
    ),
  );
  const shapes = Object.entries(components.schemas).filter(([name]) => !isForm(name));
  const title = `${escapeHtml(info.title)}: API reference`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<style>${style}</style>
</head>
<body>
<a class="skip" href="#operations">Skip to the operations</a>
<header>
<h1>${title}</h1>
<p>${sentence(info.description)} Version ${escapeHtml(info.version)}. <a href="/api/openapi.json">The same as an OpenAPI document</a>.</p>
</header>
${describeContents(operations, shapes)}
<main>
<section id="credentials" aria-labelledby="credentials-heading">
<h2 id="credentials-heading">Credentials</h2>
${describeCredentials(components.securitySchemes)}
</section>
<section id="operations" aria-labelledby="operations-heading">
<h2 id="operations-heading">Operations</h2>
${operations.map((listed) => describeOperation(listed, components.schemas)).join('\n')}
</section>
<section id="shapes" aria-labelledby="shapes-heading">
<h2 id="shapes-heading">Shapes</h2>
${shapes.map(([name, schema]) => describeShape(name, schema, components.schemas)).join('\n')}
</section>
</main>
</body>
</html>
`;
}

function describeContents(
  operations: readonly Listed[],
  shapes: readonly (readonly [string, Schema])[],
): string {
  const listed = operations.map(({ heading, operation }) => linkTo(operation.operationId, heading));
  return `<nav aria-label="Contents">
<ol>
<li><a href="#credentials">Credentials</a></li>
<li><a href="#operations">Operations</a><ol>${listed.join('')}</ol></li>
<li><a href="#shapes">Shapes</a><ol>${shapes.map(([name]) => linkTo(shapeId(name), name)).join('')}</ol></li>
</ol>
</nav>`;
}

function linkTo(id: string, name: string): string {
  return `<li><a href="#${id}">${code(name)}</a></li>`;
}

function describeCredentials(schemes: ReferenceDocument['components']['securitySchemes']): string {
  const items = Object.entries(schemes).map(
    ([name, { description }]) =>
      `<dt id="actor-${escapeHtml(name)}">${code(name)}</dt><dd>${sentence(description)}</dd>`,
  );
  return items.length === 0 ? '<p>No operation needs credentials.</p>' : `<dl>${items.join('')}</dl>`;
}

function describeOperation({ heading, operation }: Listed, schemas: Schemas): string {
  const { operationId, parameters, requestBody, responses, security, summary } = operation;
  const [[type, body] = []] = Object.entries(requestBody?.content ?? {});
  const place = type === 'application/json' ? 'in the JSON body' : 'in the form';
  const fields: Field[] = [
    ...parameters.map((parameter) => ({
      name: parameter.name,
      place: `in the ${parameter.in}`,
      isRequired: parameter.required ?? false,
      schema: parameter.schema ?? Object.values(parameter.content ?? {})[0]?.schema,
      description: parameter.description,
      since: parameter['x-since-feature-level'],
    })),
    ...fieldsOf(body?.schema, schemas).map((field) => ({ ...field, place })),
  ];
  const heard = fields.length === 0 ? '<p>None.</p>' : listFields(fields);
  return `<article id="${operationId}" aria-labelledby="${operationId}-heading">
<h3 id="${operationId}-heading">${code(heading)}</h3>
<p>${sentence(summary)}</p>
<p>${describeActors(security)}</p>
<h4>Parameters</h4>
${heard}
<h4>Answers</h4>
<dl>${Object.entries(responses)
    .map(([status, answer]) => describeAnswer(status, answer, schemas))
    .join('')}</dl>
</article>`;
}

function describeActors(security: DescribedOperation['security']): string {
  const names = security.flatMap((way) => Object.keys(way));
  if (names.length === 0) return 'Needs no credentials.';
  const links = names
    .map((name) => `<a href="#actor-${escapeHtml(name)}">${escapeHtml(name)}</a>`)
    .join(' or ');
  const isOptional = security.some((way) => Object.keys(way).length === 0);
  return `Credentials: ${links}${isOptional ? ', or none' : ''}.`;
}

function describeAnswer(
  status: string,
  { $ref, content, description = '' }: Answer,
  schemas: Schemas,
): string {
  const codes = $ref === undefined ? description : nameOf($ref);
  if (!status.startsWith('2')) {
    const shown = /^[A-Z_, ]+$/.test(codes) ? codes.split(', ').map(code).join(', ') : sentence(codes);
    return `<dt>${status}</dt><dd>${shown}</dd>`;
  }
  const [[type, { schema } = {}] = []] = Object.entries(content ?? {});
  if (type !== undefined && type !== 'application/json') {
    return `<dt>${status}</dt><dd>${code(type)}</dd>`;
  }
  const fields = listFields(fieldsOf(schema, schemas));
  return `<dt>${status}</dt><dd>${fields === '' ? 'Success, without additional fields.' : fields}</dd>`;
}

function describeShape(name: string, schema: Schema, schemas: Schemas): string {
  const id = shapeId(name);
  const text = schema.description === undefined ? '' : `<p>${sentence(schema.description)}</p>`;
  const fields = fieldsOf(schema, schemas);
  const content = fields.length === 0 ? `<p>${typeOf(schema)}</p>` : listFields(fields);
  return `<article id="${id}" aria-labelledby="${id}-heading">
<h3 id="${id}-heading">${code(name)}</h3>
${text}${content}
</article>`;
}
