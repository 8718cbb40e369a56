// With `module` node16 or node18, TypeScript refuses to import an ECMAScript module here. Node itself can from 20.19 on.
// @ts-ignore
import index = require('../dist/index.js');

export = index;
