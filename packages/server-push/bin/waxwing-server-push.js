#!/usr/bin/env sh
':' //; exec node -- "$0" "$@"
// A shell runs the line above, so that Node takes no argument after the program for one of its own, such as --env-file.
// `env -S` would do the same, but BusyBox has none. Written in the JavaScript of 2009, so that a Node that is too old for the rest can still print this error.
var self = require('../package.json');
var least = /(\d+)\.(\d+)/.exec(self.engines.node);
var running = /(\d+)\.(\d+)/.exec(process.versions.node);
var tooOld = '%s needs Node %s or newer, and this is Node %s: install a newer one.';

if ((running[1] - least[1] || running[2] - least[2]) < 0) {
  console.error(tooOld, Object.keys(self.bin)[0], least[0], running.input);
  process.exit(1);
} else {
  require('./start.js');
}
