// A relay needs all of this anyway, and Node loads it for a fifth less one after another than as it does for import().
if (process.argv[2] === 'serve' && process.features.require_module) require('../dist/start-relay.js');
import('../dist/main.js');
