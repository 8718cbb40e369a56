/**
 * The page's only style sheet, which is embedded in the page. The content security policy contains the style sheet's
 * digest.
 */
export const style = `
:root { color-scheme: light dark; --ink: light-dark(#1b1c20, #e7e8ec); --quiet: light-dark(#55575f, #a9abb4);
  --paper: light-dark(#fff, #15161a); --tint: light-dark(#f2f3f6, #22242a); --link: light-dark(#2450b2, #9db8ff); }
* { box-sizing: border-box; }
body { margin: 0; padding: 1rem; background: var(--paper); color: var(--ink); font: 1rem/1.5 system-ui, sans-serif; }
header, main, nav { max-width: 56rem; margin: 0 auto; }
h1 { font-size: 1.75rem; line-height: 1.2; }
h2 { margin-top: 3rem; font-size: 1.375rem; }
h3 { margin: 2rem 0 .5rem; padding: .5rem .75rem; border-radius: .375rem; background: var(--tint); font-size: 1.0625rem; }
h4 { margin: 1rem 0 .25rem; font-size: 1rem; }
p { margin: .25rem 0; }
a { color: var(--link); }
code { font-family: ui-monospace, monospace; font-size: .9375em; overflow-wrap: anywhere; }
nav ol, .fields { padding-left: 1.25rem; }
nav ol { list-style: none; }
nav code { font-size: .8125rem; }
nav li, .fields li { margin: .25rem 0; }
.fields .fields { border-left: 2px solid var(--tint); }
.facts { color: var(--quiet); }
dl { margin: 0; }
dt { margin-top: .5rem; font-weight: 600; }
dd { margin: 0 0 0 1.25rem; }
:target { scroll-margin-top: 1rem; }
:focus-visible { outline: 3px solid var(--link); outline-offset: 2px; }
.skip { position: absolute; left: -100vw; }
.skip:focus { position: static; }
@media (min-width: 80rem) {
  body { display: grid; grid-template-columns: 24rem minmax(0, 56rem); gap: 0 2rem; justify-content: center; }
  header, .skip { grid-column: 1 / -1; width: 100%; max-width: none; }
  nav { position: sticky; top: 1rem; max-height: calc(100vh - 2rem); overflow-y: auto; margin: 0; }
  main { margin: 0; max-width: none; min-width: 0; }
}
`;
