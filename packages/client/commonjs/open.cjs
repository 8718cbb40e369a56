module.exports = require('../dist/open.js');
