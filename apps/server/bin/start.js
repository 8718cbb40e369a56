// The server needs all of these modules at its start, and `require` loads them in 20 % less time than `import()`.
if (process.argv[2] === 'serve' && process.features.require_module) require('../dist/start-server.js');
import('../dist/main.js');
