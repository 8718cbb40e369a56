#!/usr/bin/env sh
':' //; exec node -- "$0" "$@"
// A shell runs the line above, because BusyBox lacks `env -S`. Without --, Node would treat the program's --env-file
// option as its own, and print the value if there is no such file (https://github.com/nodejs/node/issues/54232). The
// code below is ECMAScript 5, so that an outdated Node can still print the error message.
var self = require('../package.json');
var least = /(\d+)\.(\d+)/.exec(self.engines.node);
var running = /(\d+)\.(\d+)/.exec(process.versions.node);
var tooOld = '%s needs Node %s or newer, but this is Node %s: install a newer version.';

if ((running[1] - least[1] || running[2] - least[2]) < 0) {
  console.error(tooOld, Object.keys(self.bin)[0], least[0], running.input);
  process.exit(1);
} else {
  require('./start.js');
}
