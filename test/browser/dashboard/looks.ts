import { join } from 'node:path';

/** Folder for screenshots of all pages, for manual review. */
export const pictures = join(import.meta.dirname, '../../../artifacts/dashboard');

const sizes = [
  { width: 1280, height: 800 },
  { width: 390, height: 844 },
];
const schemes = ['light', 'dark'] as const;

/** All combinations of screen size and color scheme in which each page is checked. */
export const shapes = sizes.flatMap((size) => schemes.map((colorScheme) => ({ size, colorScheme })));

/** Script that returns axe's serious findings. axe must be loaded first. */
export const seriousFaults = `axe.run().then(({ violations }) => violations
  .filter(({ impact }) => /serious|critical/.test(impact))
  .map(({ id, nodes }) => id + ' ' + nodes[0].html))`;
