// TypeScript with `module` node16 or node18 refuses to import an ECMAScript module here, but Node 20.19 and newer can.
// @ts-ignore
import open = require('../dist/open.js');

export = open;
