import fc from 'fast-check';

// CI uses a fixed seed to make runs reproducible. Elsewhere the seed is random, and a failed test prints it.
if (process.env.CI !== undefined) fc.configureGlobal({ seed: 20_260_311 });

export default fc;
