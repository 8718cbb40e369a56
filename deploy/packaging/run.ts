// npm run debs|sbom|production -- [FOLDER]. The default folder is artifacts.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { billOfMaterials } from './bill-of-materials.js';
import { buildTime } from './build-time.js';
import { buildDebianPackage } from './debian-package.js';
import { installProgram, linkCommand } from './install-program.js';
import { productionPackages } from './lock-file.js';

const root = join(import.meta.dirname, '../..');
const [command = '', given = 'artifacts'] = process.argv.slice(2);
const { SOURCE_DATE_EPOCH, DEBFULLNAME = 'Waxwing', DEBEMAIL = 'root@localhost' } = process.env;
const unixSeconds = buildTime(root, SOURCE_DATE_EPOCH);
// npm runs scripts in the root of the checkout. INIT_CWD is the folder where the user ran npm.
const folder = resolve(process.env.INIT_CWD ?? '.', given);

type Program = 'relay' | 'server';

/** Builds a Debian package. @returns its path. */
function debs(program: Program): string {
  const maintainer = `${DEBFULLNAME} <${DEBEMAIL}>`;
  return buildDebianPackage({ root, program, folder, maintainer, unixSeconds });
}

/** Writes a software bill of materials. @returns its path. */
function sbom(program: Program): string {
  const path = join(folder, `waxwing-${program}.cdx.json`);
  mkdirSync(folder, { recursive: true });
  const document = billOfMaterials(productionPackages(root, program), program, unixSeconds);
  writeFileSync(path, `${JSON.stringify(document, null, 1)}\n`);
  return path;
}

/** Installs a program with its production dependencies and its bill of materials. @returns the path of its command. */
function production(program: Program): string {
  sbom(program);
  installProgram(root, productionPackages(root, program), folder, `${process.platform}-${process.arch}`);
  const path = join(folder, 'node_modules/.bin', `waxwing-${program}`);
  linkCommand(path, `../@waxwing/${program}/bin/waxwing-${program}.js`);
  return path;
}

const commands: Readonly<Record<string, (program: Program) => string>> = { debs, sbom, production };
const run = commands[command];
if (run === undefined)
  throw new Error(`no such command: ${command}. Use one of ${Object.keys(commands).join(', ')}`);
for (const program of ['relay', 'server'] as const) process.stdout.write(`${run(program)}\n`);
