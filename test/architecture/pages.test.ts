import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { runRelayCommand } from '@waxwing/relay';
import { runServerCommand } from '@waxwing/server';
import type { Terminal } from '@waxwing/service/command-line';
import { Secret } from '@waxwing/service/config';
import { describe, expect, it } from 'vitest';
import { describeApi, type OpenApi } from './api-page.js';

const root = join(import.meta.dirname, '../..');
const read = (file: string) => readFileSync(join(root, file), 'utf8');
const pages = execFileSync('git', ['ls-files', '*.md'], { cwd: root, encoding: 'utf8' }).trim().split('\n');

/** Returns the anchor that GitHub derives from a heading. */
function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replaceAll(' ', '-');
}

function anchorsOf(page: string): string[] {
  return [...read(page).matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) => anchorOf(heading));
}

/** The project files that a page links to, relative to the root, with their anchors. */
function linksOf(page: string): { readonly file: string; readonly anchor: string | undefined }[] {
  const text = read(page).replace(/```[\s\S]*?```|`[^`\n]*`/g, '');
  return [...text.matchAll(/\]\((?![a-z]+:)([^)\s#]*)(?:#([^)\s]*))?\)/g)].map(([, path, anchor]) => ({
    file: path ? relative(root, join(root, dirname(page), path)) : page,
    anchor,
  }));
}

describe('the pages', () => {
  it('link to files and headings that exist', () => {
    const links = pages.flatMap((page) => linksOf(page).map((link) => ({ page, ...link })));
    expect(links.length).toBeGreaterThan(100);
    const broken = links.filter(
      ({ file, anchor }) =>
        !existsSync(join(root, file)) ||
        (anchor !== undefined && file.endsWith('.md') && !anchorsOf(file).includes(anchor)),
    );
    expect(broken).toEqual([]);
  });

  it('are all linked from docs/index.md', () => {
    const linked = new Set(linksOf('docs/index.md').map(({ file }) => file));
    const docs = pages.filter((page) => /^(?:docs\/)?[\w-]+\.md$/.test(page) && page !== 'docs/index.md');
    expect(docs.filter((page) => !linked.has(page))).toEqual([]);
    expect(linksOf('README.md').map(({ file }) => file)).toContain('docs/index.md');
  });
});

/** Output of `--help` after these arguments. */
async function helpOf(program: string, argv: readonly string[]): Promise<string> {
  const printed: string[] = [];
  const terminal: Terminal = {
    environment: {},
    clock: () => 0,
    print: (text) => void printed.push(text),
    say: (text) => void printed.push(text),
    ask: async () => undefined,
    readSecret: async () => new Secret(''),
  };
  await (program === 'relay' ? runRelayCommand : runServerCommand)([...argv, '--help'], terminal);
  return printed.join('\n');
}

it('every command that a page names exists', async () => {
  const naming = /\bwaxwing-(relay|server) ([a-z]+) ([a-z]+(?:-[a-z]+)*)/g;
  const code = (page: string) => read(page).match(/```sh[\s\S]*?```|`[^`\n]+`/g) ?? [];
  const named = new Set(
    pages
      .filter((page) => page !== 'CHANGELOG.md')
      .flatMap((page) =>
        code(page).flatMap((text) => [...text.matchAll(naming)].map(([command]) => command)),
      ),
  );
  expect(named.size).toBeGreaterThan(20);
  const unknown: string[] = [];
  for (const command of named) {
    const [program = '', ...words] = command.replace('waxwing-', '').split(' ');
    if (words[0] === 'serve') continue;
    // Drops the argument of `completion`, because it is the name of a shell and not a subcommand.
    const argv = words[0] === 'completion' ? words.slice(0, 1) : words;
    const usage = `Usage: waxwing-${program} ${argv.join(' ')} `;
    if (!(await helpOf(program, argv)).startsWith(usage)) unknown.push(command);
  }
  expect(unknown).toEqual([]);
});

it('the API reference matches the OpenAPI documents; --update regenerates it', async () => {
  const sections = ['server', 'relay', 'relay-admin'].map((name) =>
    describeApi(name, JSON.parse(read(`docs/openapi/${name}.json`)) as OpenApi),
  );
  const introduction = `# API reference

All operations of the server, of the relay, and of the relay's admin socket. Parameters of a \`body\` are sent as a form, those
of a \`JSON body\` as an object. [errors.md](errors.md) explains error codes. A test writes this page from the OpenAPI documents.

The server uses HTTP Basic authentication: the user's e-mail address is the user name, and the API key is the password.
\`POST /api/v1/fetch_api_key\` issues an API key for a password.

\`\`\`sh
curl --user "ada@example.com:$API_KEY" --data type=channel --data to=general --data topic=hello --data content=Hello https://chat.example.com/api/v1/messages
\`\`\`

The relay uses HTTP Basic authentication with the server's id and its server key.`;
  const page = `${[introduction, ...sections].join('\n\n')}\n`;
  await expect(page).toMatchFileSnapshot(join(root, 'docs/api.md'));
});
