import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type BrowserContext, chromium, type Page } from 'playwright-core';
import { build } from 'vite';

const executablePath = process.env.WAXWING_CHROMIUM ?? '/usr/bin/chromium';

/** Whether Chromium is installed. If not, prints instructions to install it. */
export function hasChromium(): boolean {
  if (existsSync(executablePath)) return true;
  console.log(
    `The tests in a browser are skipped: there is no Chromium at ${executablePath}. ` +
      'Install it (Debian: apt-get install chromium), or set WAXWING_CHROMIUM to its path.',
  );
  return false;
}

export interface OpenedPage {
  readonly page: Page;
  /** The page's console messages and errors. */
  readonly problems: readonly string[];
  close(): Promise<void>;
}

const headers = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; connect-src 'self'",
};

/**
 * Bundles a module with vite, serves it on a new page with a strict content security policy, and opens the page in
 * Chromium. `serveRest` handles the page's other requests to the same origin.
 */
export async function openPage(entryFile: string, serveRest: RequestListener): Promise<OpenedPage> {
  const directory = await mkdtemp(join(tmpdir(), 'waxwing-page-'));
  const script = await bundle(entryFile, join(directory, 'bundle'));
  const server = createServer((request, response) => {
    if (request.url === '/') {
      response.writeHead(200, headers).end('<!doctype html><script type="module" src="/page.js"></script>');
    } else if (request.url === '/page.js') {
      response.writeHead(200, { 'content-type': 'text/javascript' }).end(script);
    } else serveRest(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const browser = await launch(join(directory, 'profile'));
  const page = await browser.newPage();
  const problems: string[] = [];
  page.on('pageerror', (error) => problems.push(String(error)));
  page.on('console', (message) => problems.push(message.text()));
  await page.goto(`http://127.0.0.1:${port}/`);

  return {
    page,
    problems,
    async close() {
      await browser.close();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await rm(directory, { recursive: true, force: true });
    },
  };
}

/** Bundles a module and its imports into one file with vite. Returns the bundle's text. */
export async function bundle(entryFile: string, outDir: string): Promise<string> {
  await build({
    configFile: false,
    logLevel: 'silent',
    root: import.meta.dirname,
    resolve: { conditions: ['@waxwing/source', 'browser'] },
    build: {
      outDir,
      modulePreload: false,
      rolldownOptions: { input: entryFile, output: { entryFileNames: 'page.js', codeSplitting: false } },
    },
  });
  return readFile(join(outDir, 'page.js'), 'utf8');
}

/**
 * Starts Chromium with a new profile. `options` are passed to Chromium's launcher, for example to accept a test
 * certificate.
 */
export function launch(
  profileDirectory: string,
  options: { readonly ignoreHTTPSErrors?: boolean } = {},
): Promise<BrowserContext> {
  return chromium.launchPersistentContext(profileDirectory, {
    ...options,
    executablePath,
    headless: true,
    args: [
      '--headless',
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  });
}
