// TypeScript with `module` node16 or node18 refuses to import an ECMAScript module here, but Node 20.19 and newer can.
// @ts-ignore
import serviceWorker = require('../dist/service-worker.js');

export = serviceWorker;
