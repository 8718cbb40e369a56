import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { contentHtmlDiff, renderMarkdown } from '@waxwing/markdown';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { hasChromium, launch } from '../../browser/open-page.js';
import fc from '../../support/fast-check.js';
import { forbiddenIn, openedElements, parsedElements } from './allowed-html.js';
import { arbitraryTex, arbitraryText } from './arbitrary-texts.js';
import { facts } from './facts.js';
import { unsafeTexts } from './unsafe-texts.js';

const html = (text: string) => renderMarkdown(text, facts).html;

afterEach(() => vi.restoreAllMocks());

describe('text from an untrusted author', () => {
  it('renders to allowed elements, attributes and URLs only', () => {
    const found = unsafeTexts.map((text) => ({ text, forbidden: forbiddenIn(html(text)) }));
    expect(found.filter(({ forbidden }) => forbidden.length > 0)).toEqual([]);
  });

  it('yields only allowed HTML in a diff of any two versions', () => {
    const found = unsafeTexts.map((text, index) => {
      const other = unsafeTexts[(index * 7 + 3) % unsafeTexts.length] as string;
      return { text, other, forbidden: forbiddenIn(contentHtmlDiff(html(text), html(other))) };
    });
    expect(found.filter(({ forbidden }) => forbidden.length > 0)).toEqual([]);
  });

  it('is safe in formulas with any commands, and logs nothing to the console', () => {
    const written = [vi.spyOn(console, 'log'), vi.spyOn(console, 'warn'), vi.spyOn(console, 'error')];
    for (const tex of ['\\show a', '\\message{a}', '\\errmessage{a}', '\\emph |', '⊶']) html(`$$${tex}$$`);
    fc.assert(
      fc.property(arbitraryTex, (tex) => {
        const typeset = html(`\`\`\`math\n${tex}\n\`\`\``);
        expect(forbiddenIn(typeset)).toEqual([]);
        expect(parsedElements(typeset)).toEqual(openedElements(typeset));
      }),
      { numRuns: 2_000 },
    );
    for (const spy of written) expect(spy).not.toHaveBeenCalled();
  });

  it('renders to allowed and well-nested HTML for random input', () => {
    fc.assert(
      fc.property(arbitraryText, arbitraryText, (before, after) => {
        const [old, now] = [html(before), html(after)];
        for (const one of [now, contentHtmlDiff(old, now)]) {
          expect(forbiddenIn(one)).toEqual([]);
          expect(parsedElements(one)).toEqual(openedElements(one));
        }
      }),
      { numRuns: 300 },
    );
  });
});

describe.runIf(hasChromium())('in a browser', () => {
  it('messages and diffs run no script and fetch nothing', async () => {
    const profile = await mkdtemp(join(tmpdir(), 'waxwing-markdown-'));
    const browser = await launch(profile);
    try {
      const page = await browser.newPage();
      const requests: string[] = [];
      await page.route('**', (route) => {
        requests.push(route.request().url());
        return route.abort();
      });
      const ran: string[] = [];
      await page.exposeFunction('run', () => ran.push('run'));
      page.on('dialog', (dialog) => ran.push(dialog.message()));
      page.on('pageerror', (error) => ran.push(String(error)));

      const messages = unsafeTexts.map(html);
      const diffs = messages.map((message, index) =>
        contentHtmlDiff(messages[(index * 7 + 3) % messages.length] as string, message),
      );
      const all = [...messages, ...diffs];
      await page.setContent(
        `<!doctype html><body>${all.map((one) => `<div>${one}</div>`).join('\n')}</body>`,
      );
      // Dispatches to every element the events that a reader's pointer and keyboard would cause.
      const count = await page.evaluate(() => {
        const elements = [...document.body.querySelectorAll('*')];
        for (const element of elements) {
          for (const type of ['mouseover', 'focus', 'load', 'error', 'toggle'])
            element.dispatchEvent(new Event(type));
        }
        return elements.length;
      });
      expect(count).toBeGreaterThan(all.length);
      expect({ ran, requests }).toEqual({ ran: [], requests: [] });

      // Positive control: scripts in unescaped HTML do run.
      await page.evaluate(() => {
        document.body.innerHTML = '<img src="/x" onerror="run()">';
      });
      await expect.poll(() => ran).toEqual(['run']);
    } finally {
      await browser.close();
      await rm(profile, { recursive: true, force: true });
    }
  });
});
