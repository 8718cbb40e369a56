export * from './answer-within.js';
export * from './clock.js';
export * from './fair-line.js';
export * from './gathered.js';
export * from './listen-trouble.js';
export * from './open-in-order.js';
export * from './retry-delay.js';
export * from './run-process.js';
