import fc from 'fast-check';

// CI uses a fixed seed, so that the same sources give the same result. Elsewhere the seed is random, and a failure names it.
if (process.env.CI !== undefined) fc.configureGlobal({ seed: 20_260_311 });

export default fc;
