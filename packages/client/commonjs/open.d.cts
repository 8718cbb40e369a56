// With `module` node16 or node18, TypeScript rejects this import of an ECMAScript module. Node 20.19 and newer support
// it.
// @ts-ignore
import open = require('../dist/open.js');

export = open;
