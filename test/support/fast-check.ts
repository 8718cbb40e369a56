import fc from 'fast-check';

// CI uses a fixed seed, so that the same sources give the same result. Elsewhere a failed test prints its random seed.
if (process.env.CI !== undefined) fc.configureGlobal({ seed: 20_260_311 });

export default fc;
