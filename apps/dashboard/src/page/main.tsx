import { render } from 'preact';
import { App } from './app.js';
import { resumeSession } from './session/session.js';

const root = document.getElementById('page');
if (root === null) throw new Error('the page has no element "page"');
render(<App />, root);
resumeSession();
