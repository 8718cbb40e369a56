/** Public keys of `keys.example`. Their private halves are public, so no relay may use them. */
export const exampleKeys: ReadonlySet<string> = new Set([
  'Gg0GmwbBVGqV1hg2Oh0L6kod7Ya5+E7w+sGRZMOXfmY=',
  '7kH2iZ9EjqwA+68R/PUDcj5GRHrD9IXX1gos6oO/0BY=',
  '+VPi4pnh1myosqAp4jLSNqmC0PwnSPiWzesGLSjaHl8=',
]);
