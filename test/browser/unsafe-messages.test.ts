import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Account, ServerUnderTest } from '../apps/server/server-under-test.js';
import { unsafeTexts } from '../packages/markdown/unsafe-texts.js';
import { hasChromium, launch } from './open-page.js';

// Skips strings with NUL characters and blank strings, because the server refuses such messages.
const texts = unsafeTexts.filter((text) => !text.includes('\u0000') && text.trim() !== '');

/** A page whose title becomes `ran` if a script runs. */
const pageOf = (html: string) => `<!doctype html><base href="https://chat.example.com/"><title>quiet</title>
<script>function run() { document.title = 'ran' }</script><main>${html}</main>`;

/** Script that opens every element and dispatches events to it. Returns the schemes of all links. */
const touchAll = `(() => {
  for (const each of document.querySelectorAll('main *')) {
    for (const type of ['mouseover', 'focus', 'load', 'error', 'toggle', 'pointerenter'])
      each.dispatchEvent(new Event(type, { bubbles: true }));
  }
  return [...new Set([...document.links].map(({ protocol }) => protocol))];
})()`;

describe.runIf(hasChromium())('Messages with active content, in a browser', () => {
  const profile = mkdtempSync(join(tmpdir(), 'waxwing-unsafe-'));
  let server: ServerUnderTest;
  let author: Account;
  let browser: BrowserContext;
  let page: Page;
  const ids: number[] = [];

  beforeAll(async () => {
    server = await ServerUnderTest.start({ withoutRelay: true });
    author = await server.addAccount('author@example.com');
    for (const content of texts) {
      const to = `[${author.userId}]`;
      const { body } = await server.ask(author, 'POST', 'messages', { type: 'direct', to, content });
      expect(body.result, `${content}: ${body.msg}`).toBe('success');
      ids.push(Number(body.id));
    }
    browser = await launch(profile);
    page = await browser.newPage();
  }, 120_000);
  afterAll(async () => {
    await browser?.close();
    await server?.close();
    rmSync(profile, { recursive: true, force: true });
  });

  /** Opens HTML in the page. Returns the title, which shows whether a script ran, and the schemes of all links. */
  async function opened(html: string): Promise<{ title: string; schemes: string[] }> {
    await page.setContent(pageOf(html), { waitUntil: 'domcontentloaded' });
    const schemes = (await page.evaluate(touchAll)) as string[];
    return { title: await page.title(), schemes };
  }

  async function readAll(): Promise<string[]> {
    const asked = { message_ids: JSON.stringify(ids) };
    const { body } = await server.ask(author, 'GET', 'messages', asked);
    return (body.messages as { content: string }[]).map(({ content }) => content);
  }

  // For an invalid URL, the browser reports the scheme `:`.
  const safe = ['https:', 'http:', 'mailto:', ':'];

  it('are opened on a page that detects running scripts (positive control)', async () => {
    expect((await opened('<img src=x onerror=run()>')).title).toBe('ran');
  });

  it('run no script, neither after sending nor after editing nor in the history', async () => {
    const sent = await readAll();
    expect(sent).toHaveLength(texts.length);
    const first = await opened(sent.join('\n'));
    expect(first.title).toBe('quiet');
    for (const [index, id] of ids.entries()) {
      const content = texts[(index + 1) % texts.length] as string;
      const { body } = await server.ask(author, 'PATCH', `messages/${id}`, { content });
      expect(body.result, `${content}: ${body.msg}`).toBe('success');
    }
    const edited = await opened((await readAll()).join('\n'));
    const diffs: string[] = [];
    for (const id of ids) {
      const { body } = await server.ask(author, 'GET', `messages/${id}/history`);
      const history = body.message_history as Record<string, string | undefined>[];
      for (const { rendered_content, prev_rendered_content, content_html_diff } of history)
        diffs.push(rendered_content ?? '', prev_rendered_content ?? '', content_html_diff ?? '');
    }
    const compared = await opened(diffs.join('\n'));
    expect([edited.title, compared.title]).toEqual(['quiet', 'quiet']);
    const schemes = [first, edited, compared].flatMap((each) => each.schemes);
    expect(schemes.filter((scheme) => !safe.includes(scheme))).toEqual([]);
    expect(diffs.some((html) => html.includes('highlight_text_inserted'))).toBe(true);
  }, 120_000);
});
