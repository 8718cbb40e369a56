module.exports = require('../dist/service-worker.js');
