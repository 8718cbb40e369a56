// npm run debs -- [FOLDER] and npm run sbom -- [FOLDER]: a Debian package, or a bill of materials, of each program.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { billOfMaterials } from './bill-of-materials.js';
import { buildTime } from './build-time.js';
import { buildDebianPackage } from './debian-package.js';
import { productionPackages } from './lock-file.js';

const root = join(import.meta.dirname, '../..');
const [what = '', given = 'artifacts'] = process.argv.slice(2);
const { SOURCE_DATE_EPOCH, DEBFULLNAME = 'Waxwing', DEBEMAIL = 'root@localhost' } = process.env;
const unixSeconds = buildTime(root, SOURCE_DATE_EPOCH);
const maintainer = `${DEBFULLNAME} <${DEBEMAIL}>`;
// npm runs scripts in the root of the checkout, and INIT_CWD is the folder in which the user typed the command.
const folder = resolve(process.env.INIT_CWD ?? '.', given);

function writeBillOfMaterials(program: string): string {
  const path = join(folder, `waxwing-${program}.cdx.json`);
  mkdirSync(folder, { recursive: true });
  const document = billOfMaterials(productionPackages(root, program), program, unixSeconds);
  writeFileSync(path, `${JSON.stringify(document, null, 1)}\n`);
  return path;
}

for (const program of ['relay', 'server'] as const) {
  const path =
    what === 'sbom'
      ? writeBillOfMaterials(program)
      : buildDebianPackage({ root, program, folder, maintainer, unixSeconds });
  process.stdout.write(`${path}\n`);
}
