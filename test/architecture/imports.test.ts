import { readdirSync, readFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { join, relative } from 'node:path';
import { describe, expect, it } from 'vitest';
import { functionsOf, importsOf, root, sourceFiles } from './source-files.js';

interface Unit {
  readonly folder: string;
  /** Packages, or entry points of packages, that this unit may import. `node:*` stands for Node's built-in modules. */
  readonly mayImport: readonly string[];
  /** Packages that only these files may load, on some platforms or for some settings. */
  readonly only: Readonly<Record<string, readonly string[]>>;
}

/** The import table, read from its documentation page. */
const units: readonly Unit[] = [
  ...readFileSync(join(root, 'docs/architecture.md'), 'utf8').matchAll(
    /^\| `((?:packages|apps)\/[\w-]+)` \| (`[^|]+`) \| ([^|]*)\|$/gm,
  ),
].map(([, folder = '', mayImport = '', only = '']) => ({
  folder,
  mayImport: quoted(mayImport),
  only: Object.fromEntries(
    only.split(';').flatMap((text) => {
      const [name, ...files] = quoted(text);
      return name === undefined ? [] : [[name, files]];
    }),
  ),
}));

function quoted(text: string): string[] {
  return [...text.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name);
}

function packageOf(specifier: string): string {
  if (specifier.startsWith('node:') || builtinModules.includes(specifier)) return 'node:*';
  return specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/');
}

/** A package's name allows all its entry points. An entry point's name allows only that entry point. */
function allows(entry: string, specifier: string): boolean {
  return entry === specifier || entry === packageOf(specifier);
}

function culprits({ folder, mayImport, only }: Unit): string[] {
  const source = join(root, folder, 'src');
  return sourceFiles(source).flatMap((file) =>
    importsOf(file)
      .filter((specifier) => {
        if (specifier.startsWith('.')) return !join(file, '..', specifier).startsWith(source);
        const isHere = only[packageOf(specifier)]?.some((allowed) => file === join(source, allowed)) ?? true;
        return !mayImport.some((entry) => allows(entry, specifier)) || !isHere;
      })
      .map((specifier) => `${relative(root, file)} imports ${specifier}`),
  );
}

/** Path of a source file as it appears in test names. */
function nameInTests(path: string): string {
  return path.replace(/^(?:packages|apps)\/([\w-]+)\/src\//, '#$1/');
}

describe('the import table', () => {
  for (const unit of units) {
    it(`lists all imports of ${unit.folder}`, () => {
      expect(sourceFiles(join(root, unit.folder, 'src')).length).toBeGreaterThan(0);
      expect(culprits(unit)).toEqual([]);
    });

    it(`lists no unused import for ${unit.folder}`, () => {
      const used = new Set(sourceFiles(join(root, unit.folder, 'src')).flatMap(importsOf));
      expect(
        unit.mayImport.filter((entry) => ![...used].some((specifier) => allows(entry, specifier))),
      ).toEqual([]);
    });
  }

  it('covers every package and app except the quickstart, which may import anything', () => {
    const folders = ['packages', 'apps'].flatMap((parent) =>
      readdirSync(join(root, parent)).map((name) => `${parent}/${name}`),
    );
    expect(folders.filter((folder) => folder !== 'apps/quickstart').sort()).toEqual(
      units.map(({ folder }) => folder).sort(),
    );
  });

  it('lets no other file of the relay import the key ring’s inner files, which see the private keys', () => {
    const doors =
      /keyring\/(?:open-key-ring|watch-keys|check-stored-ring|live\/keys-readiness|live\/live-key-ring|uses\/key-use-counter|storage\/key-ring-configuration|storage\/key-ring-tables|commands\/(?:key-ring|vapid)-commands|vapid\/vapid-keys|ring\/web-push-app-name|list\/key-list-operation|administration\/(?:key-operations|ring-overview))\.js$/;
    const inside = sourceFiles(join(root, 'apps/relay/src')).filter((file) => !file.includes('/keyring/'));
    const found = inside.flatMap((file) =>
      importsOf(file)
        .filter((specifier) => specifier.includes('keyring/') && !doors.test(specifier))
        .map((specifier) => `${relative(root, file)} imports ${specifier}`),
    );
    expect(found).toEqual([]);
  });

  it('lets the client import only the protocol entry point without zod', () => {
    const client = sourceFiles(join(root, 'packages/client/src')).flatMap(importsOf);
    expect([...new Set(client.filter((specifier) => packageOf(specifier) === '@waxwing/protocol'))]).toEqual([
      '@waxwing/protocol/phone',
    ]);
    const reached = new Set([join(root, 'packages/protocol/src/phone.ts')]);
    for (const file of reached) {
      for (const specifier of importsOf(file).filter((name) => name.startsWith('.'))) {
        reached.add(join(file, '..', specifier.replace(/\.js$/, '.ts')));
      }
    }
    const packages = new Set([...reached].flatMap(importsOf).filter((name) => !name.startsWith('.')));
    expect([...packages]).toEqual(['lossless-json']);
  });

  it('lets the quickstart page import only the client, as any app can', () => {
    const page = sourceFiles(join(root, 'apps/quickstart/page')).flatMap(importsOf);
    expect([...new Set(page.filter((specifier) => !specifier.startsWith('.')))].sort()).toEqual([
      '@waxwing/client',
      '@waxwing/client/service-worker',
      'vite',
    ]);
  });

  it('lets the example app import only the client, as any app can', () => {
    const example = join(root, 'examples/expo-app');
    const files = sourceFiles(example).filter((file) => !file.includes('/node_modules/'));
    const imported = files.flatMap((file) =>
      importsOf(file).map((specifier) =>
        specifier.startsWith('.') ? join(file, '..', specifier) : specifier,
      ),
    );
    expect([...new Set(imported.filter((name) => name.startsWith('@waxwing/')))]).toEqual([
      '@waxwing/client',
    ]);
    const outside = imported.filter((name) => name.startsWith('/') && !name.startsWith(`${example}/`));
    expect(outside).toEqual([]);
  });

  it('reports a forbidden entry point, even if another entry point of the same package is allowed', () => {
    const unit = units.find(({ folder }) => folder === 'packages/server-push') as Unit;
    const found = culprits({
      ...unit,
      mayImport: unit.mayImport.filter((name) => name !== '@waxwing/service/http'),
    });
    expect(found).not.toEqual([]);
    expect(found.filter((line) => !line.endsWith(' imports @waxwing/service/http'))).toEqual([]);
  });

  it('reports a forbidden import', () => {
    const unit = units.find(({ folder }) => folder === 'packages/storage') as Unit;
    expect(
      culprits({ ...unit, mayImport: unit.mayImport.filter((name) => name !== 'kysely') }),
    ).toContainEqual(expect.stringMatching(/^packages\/storage\/src\/.+ imports kysely$/));
  });
});

describe('the house rules', () => {
  const folders = ['packages', 'apps', 'test'].map((folder) => join(root, folder));
  const files = folders.flatMap(sourceFiles).filter((file) => !/\/(?:node_modules|dist)\//.test(file));

  it('reads the environment only in main.ts', () => {
    const inUnits = files.filter((file) => /\/(?:packages|apps)\/[^/]+\/src\//.test(file));
    const found = inUnits.filter(
      (file) => !file.endsWith('/main.ts') && /\bprocess\.env\b/.test(readFileSync(file, 'utf8')),
    );
    expect(found.map((file) => relative(root, file))).toEqual([]);
  });

  it('opens files only in modules that cannot open a served database, because closing it would drop its locks', () => {
    const opening =
      /\b(?:readFile|open|copyFile|cp|appendFile|writeFile|truncate|createReadStream)(?:Sync)?\b(?=[^'"]*['"]node:fs)/;
    const found = files
      .filter((file) => /\/(?:packages|apps)\/[^/]+\/src\//.test(file))
      .filter((file) =>
        [...readFileSync(file, 'utf8').matchAll(/^import [^'"]*['"]node:fs(?:\/promises)?['"]/gm)].some(
          ([line]) => opening.test(line) || /\* as|^import \w/.test(line),
        ),
      );
    expect(found.map((file) => relative(root, file)).sort()).toEqual([
      'apps/quickstart/src/find-in-files.ts', // runs in its own process
      'apps/quickstart/src/page/page-files.ts', // reads the built page
      'apps/relay/src/keyring/storage/audit-log.ts',
      'apps/server/src/content/uploads/file-store/disk-file-store.ts', // opens only paths of uploads
      'apps/vendors/src/credentials/credential-file.ts',
      'packages/administration/src/database-commands.ts', // opens export files
      'packages/service/src/command-line/package-version.ts', // reads the program's package.json
      'packages/service/src/config/environment-file.ts', // runs before the database is opened
      'packages/service/src/config/private-file.ts', // reads files with secrets
      'packages/service/src/config/read-authorities.ts', // reads public certificates
      'packages/service/src/config/sync-folder.ts', // opens only folders
      'packages/service/src/dashboard/page-files.ts', // reads the built page
      'packages/storage/src/database-file.ts', // creates the file if there is none
    ]);
  });

  it("lets the server's operations write only through their actor, which is locked in the transaction", () => {
    const found = sourceFiles(join(root, 'apps/server/src')).filter((file) => {
      const text = readFileSync(file, 'utf8');
      const servesRequests = /\boperation\(\{|\bServerContext\b|\bRequester\b/.test(text);
      return (
        servesRequests && /\bdatabase\.write(?:First|Single)?\(|\b(?:lockUser|lockRequester)\(/.test(text)
      );
    });
    expect(found.map((file) => relative(root, file)).sort()).toEqual([
      'apps/server/src/content/uploads/remove-unclaimed-uploads.ts', // a scheduled job
      'apps/server/src/content/uploads/withdraw-uploads.ts', // changes rows that no user sees
      'apps/server/src/conversations/channel-administration/delete-old-messages.ts', // a scheduled job
      'apps/server/src/create-server.ts', // passes the lock of a user to the push operations
      'apps/server/src/membership/joining/join-operations.ts', // a user who joins has no actor yet
      'apps/server/src/membership/sign-in/fetch-api-key.ts', // a user who signs in has no key yet
      'apps/server/src/membership/sign-in/prove-password.ts', // stores a failed attempt even if the request fails
      'apps/server/src/membership/sign-in/remove-old-failures.ts', // a scheduled job
      'apps/server/src/people/realm/settle-full-members.ts', // a scheduled job
      'apps/server/src/platform/authentication/authenticate.ts', // locks the actor
      'apps/server/src/platform/event-queues/get-events.ts', // acknowledges events of the requester's own queue
      'apps/server/src/platform/event-queues/remove-idle-queues.ts', // a scheduled job
    ]);
  });

  it('imports the sources of a unit by name in tests, never by a relative path', () => {
    const found = sourceFiles(join(root, 'test')).flatMap((file) =>
      importsOf(file)
        .filter((specifier) => specifier.startsWith('.'))
        .map((specifier) => relative(root, join(file, '..', specifier)))
        .filter((path) => /^(?:packages|apps)\/[\w-]+\/src\//.test(path))
        .map((path) => `${relative(root, file)} imports ${path}: write ${nameInTests(path)}`),
    );
    expect(found).toEqual([]);
  });

  it('has a test import name for every package and app', () => {
    const { imports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
    const named = units.map(({ folder }) => [`#${folder.split('/')[1]}/*.js`, `./${folder}/src/*.ts`]);
    expect(imports).toEqual(Object.fromEntries(named));
  });

  it('keeps each main.ts within 25 lines', () => {
    const long = files.filter(
      (file) => file.endsWith('/src/main.ts') && readFileSync(file, 'utf8').trimEnd().split('\n').length > 25,
    );
    expect(long.map((file) => relative(root, file))).toEqual([]);
  });

  it('keeps every file within 300 lines', () => {
    const long = files.filter((file) => readFileSync(file, 'utf8').trimEnd().split('\n').length > 300);
    expect(long.map((file) => relative(root, file))).toEqual([]);
  });

  it('keeps every comment line within 125 characters, except for URLs and tool directives', () => {
    const long = files.flatMap((file) =>
      readFileSync(file, 'utf8')
        .split('\n')
        .map((line, index) => ({ line, place: `${relative(root, file)}:${index + 1}` }))
        .filter(
          ({ line }) => line.length > 125 && /^\s*(?:\/\*\*|\*|\/\/) (?!.*(?:https?:\/\/|biome-))/.test(line),
        )
        .map(({ place }) => place),
    );
    expect(long).toEqual([]);
  });

  it('keeps every function of a package or an app within 50 lines', () => {
    const inUnits = files.filter((file) => /\/(?:packages|apps)\/[^/]+\/src\//.test(file));
    const long = inUnits.flatMap((file) =>
      functionsOf(file)
        .filter(({ lines }) => lines > 50)
        .map(({ firstLine, lines }) => `${relative(root, file)}:${firstLine} has ${lines} lines`),
    );
    expect(long).toEqual([]);
    // Proves that long functions are found: this file's tests are in a long function.
    expect(functionsOf(import.meta.filename).some(({ lines }) => lines > 50)).toBe(true);
  });

  it('gives the relay and the server the same files at their root', () => {
    const rootFiles = (app: string) =>
      readdirSync(join(root, 'apps', app, 'src'))
        .filter((name) => name.endsWith('.ts'))
        .map((name) => name.replace(app, 'APP'))
        .sort();
    expect(rootFiles('relay')).toEqual(rootFiles('server'));
  });

  it('names every folder after a domain concept', () => {
    const names = files.flatMap((file) => relative(root, file).split('/').slice(0, -1));
    expect(
      names.filter((name) => /^(?:utils?|helpers?|common|lib|misc|services|shared)$/.test(name)),
    ).toEqual([]);
  });

  it('allows no marks of unfinished work, no skipped or exclusive tests, and no suppressed type errors', () => {
    const debt = new RegExp(
      [
        'TO',
        'DO\\b|FIX',
        'ME\\b|@ts-(?:ignore|expect-error)|\\b(?:it|test|describe)\\.(?:skip|only|todo)\\(',
      ].join(''),
    );
    const found = files.filter((file) => debt.test(readFileSync(file, 'utf8')));
    expect(found.map((file) => relative(root, file))).toEqual([]);
  });
});
