import { createHash } from 'node:crypto';
import { escapeHtml } from '@waxwing/markdown';
import { RawAnswer } from '@waxwing/service/http';
import { maximumAddressCharacters } from '../../people/users/email-address.js';
import { passwordLength } from '../../platform/authentication/password-hash.js';

const style = `
:root { color-scheme: light dark; font: 1.0625rem/1.5 system-ui, sans-serif; }
body { margin: 0; padding: 1.5rem 1rem; background: light-dark(#f5f5f7, #17181c); color: light-dark(#1a1a1e, #ededf0); }
main { max-width: 26rem; margin: 0 auto; padding: 1.5rem; border-radius: .75rem; background: light-dark(#fff, #232429); }
h1 { margin-top: 0; font-size: 1.5rem; line-height: 1.25; overflow-wrap: anywhere; }
main > :last-child { margin-bottom: 0; }
strong { overflow-wrap: anywhere; }
label { display: block; margin: 1rem 0 .25rem; font-weight: 600; }
input, button { box-sizing: border-box; width: 100%; min-height: 2.75rem; padding: .5rem .75rem; border-radius: .5rem; font: inherit; }
input { border: 1px solid light-dark(#72727a, #93939c); background: light-dark(#fff, #17181c); color: inherit; }
button { margin-top: 1.5rem; border: 0; background: light-dark(#2450b2, #9db8ff); color: light-dark(#fff, #10131c); font-weight: 600; }
:focus-visible { outline: 3px solid light-dark(#2450b2, #9db8ff); outline-offset: 2px; }
.hint { margin: .25rem 0 0; font-size: .9375rem; }
.problem { padding: .75rem; border-left: 4px solid light-dark(#b3261e, #f2b8b5); background: light-dark(#fdecea, #3a2222); }
`;
const styleHash = createHash('sha256').update(style).digest('base64');

const headers = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': `default-src 'none'; style-src 'sha256-${styleHash}'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'`,
  'x-content-type-options': 'nosniff',
  // The URL contains the invitation's token, which must not reach other sites in `Referer`.
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-store',
  'x-robots-tag': 'noindex',
};

/** The values that the form shows again after an error. They never include the password. */
export interface FormEntries {
  readonly fullName: string;
  readonly email: string;
}

interface RealmNaming {
  readonly name: string;
  readonly url: string;
}

/** Renders the sign-up form, with an error message if `problem` is given. */
export function formPage(realm: RealmNaming, entries: FormEntries, problem?: string): RawAnswer {
  const { minimum, maximum } = passwordLength;
  const alert =
    problem === undefined ? '' : `<p class="problem" id="problem" role="alert">${escapeHtml(problem)}</p>`;
  const described = problem === undefined ? '' : ' aria-describedby="problem"';
  const body = `<h1>Join ${escapeHtml(realm.name)}</h1>
${alert}
<form method="post"${described}>
<label for="full_name">Your name</label>
<input id="full_name" name="full_name" value="${escapeHtml(entries.fullName)}" autocomplete="name" maxlength="100" required>
<label for="email">E-mail address</label>
<input id="email" name="email" type="email" value="${escapeHtml(entries.email)}" autocomplete="username" maxlength="${maximumAddressCharacters}" required>
<label for="password">New password</label>
<input id="password" name="password" type="password" autocomplete="new-password" minlength="${minimum}" maxlength="${maximum}" required aria-describedby="password-hint">
<p class="hint" id="password-hint">${minimum} to ${maximum} characters.</p>
<button>Join</button>
</form>
<p>Already a member? Sign in with your app at <strong>${escapeHtml(realm.url)}</strong>.</p>`;
  return page(problem === undefined ? 200 : 400, `Join ${realm.name}`, body);
}

/** Redirects to {@link joinedPage} after a sign-up, so that a reload does not submit the form again. */
export function joinedRedirect(): RawAnswer {
  return new RawAnswer(303, { ...headers, location: '?joined=true' }, undefined);
}

/**
 * Renders the page that confirms a sign-up and explains how to sign in. The page is public and does not identify the
 * user.
 */
export function joinedPage(realm: RealmNaming): RawAnswer {
  const body = `<h1>Welcome to ${escapeHtml(realm.name)}</h1>
<p role="status">You are now a member. Sign in with your app, with your e-mail address and password:</p>
<p>Server: <strong>${escapeHtml(realm.url)}</strong></p>`;
  return page(200, `Welcome to ${realm.name}`, body);
}

/** Renders the page for an invalid link. The page is the same for unknown, expired and revoked links. */
export function noInvitationPage(): RawAnswer {
  const body = `<h1>This invitation link no longer works</h1>
<p>It may have expired, or part of the link may be missing. Ask the sender for a new one.</p>`;
  return page(404, 'No invitation', body);
}

/**
 * Renders the page for too many attempts, from one address or from all clients together. The page states how long to
 * wait.
 */
export function tooManyTriesPage(waitSeconds: number): RawAnswer {
  const minutes = Math.ceil(waitSeconds / 60);
  const wait = minutes === 1 ? 'a minute' : `${minutes} minutes`;
  const body = `<h1>Too many attempts</h1>
<p role="alert">Wait ${wait}, then open the link again. The link stays valid.</p>`;
  return page(429, 'Too many attempts', body, { 'retry-after': String(waitSeconds) });
}

function page(
  httpStatus: number,
  title: string,
  body: string,
  more: Readonly<Record<string, string>> = {},
): RawAnswer {
  const html = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)}</title>
<style>${style}</style>
</head>
<body><main>
${body}
</main></body>
</html>
`;
  return new RawAnswer(httpStatus, { ...headers, ...more }, html);
}
