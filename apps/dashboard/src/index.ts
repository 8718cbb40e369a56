/** The folder with the built page: `index.html` and, in `assets`, files whose names change with their content. */
// The same path from the sources and from the compiled code.
export const pageFolder = new URL('../dist/page/', import.meta.url);
