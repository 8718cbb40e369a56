// TypeScript with `module` node16 or node18 refuses to import an ECMAScript module here, but Node 20.19 and newer can.
// @ts-ignore
import index = require('../dist/index.js');

export = index;
