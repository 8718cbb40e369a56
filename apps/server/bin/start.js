// A server needs all of these modules anyway, and `require` loads them in four fifths of the time that `import()`
// takes.
if (process.argv[2] === 'serve' && process.features.require_module) require('../dist/start-server.js');
import('../dist/main.js');
