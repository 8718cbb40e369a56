// `serve` needs all modules immediately. `require` loads them in 20% less time than `import()`.
if (process.argv[2] === 'serve' && process.features.require_module) require('../dist/start-relay.js');
import('../dist/main.js');
