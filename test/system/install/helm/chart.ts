import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse, parseAllDocuments, stringify } from 'yaml';
import { root } from '../installation.js';
import { GoTemplates, isTrue } from './go-template.js';

const chart = (file: string) => readFileSync(join(root, 'deploy/helm', file), 'utf8');

export type Values = { readonly [name: string]: unknown };
/** A Kubernetes object, with the fields that tests read. */
// biome-ignore lint/suspicious/noExplicitAny: the fields depend on the kind
export type KubernetesObject = any;

export const chartFile = parse(chart('Chart.yaml')) as {
  readonly name: string;
  readonly version: string;
  readonly appVersion: string;
};
export const defaultValues = parse(chart('values.yaml')) as Values;
export const valuesSchema = JSON.parse(chart('values.schema.json')) as Values;

/** The template functions that the chart uses, with the semantics of Helm and Sprig. */
const functions = {
  quote: (value: unknown) => JSON.stringify(String(value)),
  required: (message: unknown, value: unknown) => {
    if (value === undefined || value === null || value === '') throw new Error(message as string);
    return value;
  },
  default: (fallback: unknown, value: unknown) => (isTrue(value) ? value : fallback),
  not: (value: unknown) => !isTrue(value),
  add: (...values: readonly unknown[]) => values.reduce<number>((sum, value) => sum + Number(value), 0),
  printf: (format: unknown, ...values: readonly unknown[]) => {
    const rest = [...values];
    return (format as string).replaceAll('%s', () => String(rest.shift()));
  },
  toYaml: (value: unknown) => stringify(value, { sortMapEntries: true }).trimEnd(),
  nindent: (spaces: unknown, text: unknown) =>
    `\n${(text as string).replace(/^/gm, ' '.repeat(spaces as number))}`,
};

/** Renders the chart like `helm template RELEASE`, with `values` merged over the defaults. */
export function renderedText(values: Values, release = 'waxwing'): string {
  const { name, version, appVersion } = chartFile;
  const context = {
    Values: merged(defaultValues, values),
    Chart: { Name: name, Version: version, AppVersion: appVersion },
    Release: { Name: release, Service: 'Helm' },
  };
  const templates = new GoTemplates(functions);
  templates.render(chart('templates/_helpers.tpl'), context);
  return ['relay', 'server']
    .map((file) => templates.render(chart(`templates/${file}.yaml`), context))
    .join('\n---\n');
}

/** The Kubernetes objects in a rendered chart. @throws Error if the text is not valid YAML. */
export function rendered(values: Values): readonly KubernetesObject[] {
  const documents = parseAllDocuments(renderedText(values), { uniqueKeys: true, version: '1.1' });
  return documents.flatMap((document) => {
    const [error] = document.errors;
    if (error !== undefined) throw error;
    const object = document.toJS() as unknown;
    return object === null ? [] : [object];
  });
}

export function merged(base: Values, over: Values): Values {
  const isObject = (value: unknown): value is Values =>
    typeof value === 'object' && value !== null && !Array.isArray(value);
  return Object.fromEntries(
    Object.keys({ ...base, ...over }).map((name) => {
      const [below, above] = [base[name], over[name]];
      if (isObject(below) && isObject(above)) return [name, merged(below, above)];
      return [name, name in over ? above : below];
    }),
  );
}
