import('../dist/main.js');
