// With `module` node16 or node18, TypeScript refuses to import an ECMAScript module here. Node itself can from 20.19 on.
// @ts-ignore
import open = require('../dist/open.js');

export = open;
