import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './installation.js';

/** The text of a file in the deploy folder. */
export const deploy = (file: string) => readFileSync(join(root, 'deploy', file), 'utf8');
export const compose = deploy('compose.yaml');

/** The text of a service in compose.yaml. */
export function service(name: string): string {
  const [, text] = new RegExp(`^ {2}${name}:\\n((?: {4}.*\\n|\\n)+)`, 'm').exec(compose) ?? [];
  if (text === undefined) throw new Error(`compose.yaml has no service ${name}`);
  return text;
}

/** The variables in env.example, including those that are commented out. */
export const example: Readonly<Record<string, string>> = Object.fromEntries(
  [...deploy('compose/env.example').matchAll(/^(?:# )?([A-Z_]+)=(.*)$/gm)].map(([, name, value]) => [
    name as string,
    value as string,
  ]),
);

/** The environment variables of a service, with placeholders replaced by the values in env.example. */
export function environmentOf(
  name: string,
  values: Readonly<Record<string, string>>,
): Record<string, string> {
  const [, block = ''] = /^ {4}environment:\n((?: {6}.*\n)+)/m.exec(service(name)) ?? [];
  const filled = block.replace(/\$\{([A-Z_]+):[?-][^}]*\}/g, (_, variable: string) => values[variable] ?? '');
  return Object.fromEntries(
    filled
      .trim()
      .split('\n')
      .map((line) => /^\s*([A-Z_]+): (.*)$/.exec(line)?.slice(1) as [string, string]),
  );
}
