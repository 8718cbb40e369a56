import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * Compiles the client's Kotlin files with stubs of Android, Firebase and React Native, and uses them to open every
 * vector in docs/examples/native/vectors.json with Android's JSON parser and libsodium. Needs Debian's
 * default-jdk-headless, libandroid-json-java, libjna-java and libsodium23, and downloads the compiler (90 MB) from npm.
 */
const compiler = 'kotlin-compiler@2.4.20';
const root = join(import.meta.dirname, '../..');
const libraries = ['com.android.json.jar', 'jna.jar'].map((name) => join('/usr/share/java', name));

const missing = libraries.filter((library) => !existsSync(library));
if (missing.length > 0 || spawnSync('java', ['-version']).status !== 0) {
  console.error('Install default-jdk-headless, libandroid-json-java, libjna-java and libsodium23 first.');
  process.exit(1);
}

const kotlinFiles = (folder: string) =>
  readdirSync(join(root, folder))
    .filter((name) => name.endsWith('.kt'))
    .map((name) => join(root, folder, name));

const folder = mkdtempSync(join(tmpdir(), 'waxwing-kotlin-'));
try {
  const install = ['install', '--prefix', folder, '--no-audit', '--no-fund', '--prefer-offline', compiler];
  execFileSync('npm', install, { stdio: 'inherit' });
  const jars = join(folder, 'node_modules/kotlin-compiler/lib');
  const standardLibrary = join(jars, 'kotlin-stdlib.jar');
  const classPath = [standardLibrary, ...libraries].join(':');
  const classes = join(folder, 'classes');
  const sources = ['test/kotlin', 'test/kotlin/stubs', 'packages/client/native/android'].flatMap(kotlinFiles);
  const options = ['-no-stdlib', '-no-reflect', '-Werror', '-cp', classPath, '-d', classes];
  const main = 'org.jetbrains.kotlin.cli.jvm.K2JVMCompiler';
  execFileSync('java', ['-cp', join(jars, '*'), main, ...options, ...sources], { stdio: 'inherit' });
  const vectors = join(root, 'docs/examples/native/vectors.json');
  const run = ['-cp', `${classes}:${classPath}`, 'waxwing.push.OpenVectorsKt', vectors];
  process.exitCode = spawnSync('java', run, { stdio: 'inherit' }).status ?? 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
