import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * Parses the client's Swift files with tree-sitter's grammar, because npm has no Swift compiler. Finds only syntax
 * errors, not wrong types or missing imports. Downloads the grammars (50 MB) from npm.
 */
const packages = ['web-tree-sitter@0.25.10', 'tree-sitter-wasms@0.1.13'];
const sources = join(import.meta.dirname, '../../packages/client/native/ios');

interface SyntaxNode {
  readonly hasError: boolean;
}

interface TreeSitter {
  readonly Parser: {
    new (): { setLanguage(language: object): void; parse(text: string): { readonly rootNode: SyntaxNode } };
    init(): Promise<void>;
  };
  readonly Language: { load(file: string): Promise<object> };
}

const folder = mkdtempSync(join(tmpdir(), 'waxwing-swift-'));
try {
  const install = [
    'install',
    '--prefix',
    folder,
    '--ignore-scripts',
    '--no-audit',
    '--no-fund',
    '--prefer-offline',
  ];
  execFileSync('npm', [...install, ...packages], { stdio: 'inherit' });
  const modules = join(folder, 'node_modules');
  const { Parser, Language } = createRequire(join(modules, 'index.js'))('web-tree-sitter') as TreeSitter;
  await Parser.init();
  const parser = new Parser();
  parser.setLanguage(await Language.load(join(modules, 'tree-sitter-wasms/out/tree-sitter-swift.wasm')));
  const isWrong = (text: string) => parser.parse(text).rootNode.hasError;
  const names = readdirSync(sources).filter((name) => name.endsWith('.swift'));
  const texts = names.map((name) => readFileSync(join(sources, name), 'utf8'));
  const wrong = names.filter((_name, index) => isWrong(texts[index] ?? ''));
  const unnoticed = names.filter((_name, index) => !isWrong((texts[index] ?? '').replace('{', '')));
  if (unnoticed.length > 0) throw new Error(`the parser does not detect a missing brace in ${unnoticed}`);
  process.stdout.write(`${names.length} files, with a syntax error: ${wrong.join(', ') || 'none'}\n`);
  process.exitCode = wrong.length === 0 && names.length > 0 ? 0 : 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
