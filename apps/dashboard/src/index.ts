/** Folder of the built page: `index.html`, and content-hashed files in `assets`. */
// The same path from the sources and from the compiled code.
export const pageFolder = new URL('../dist/page/', import.meta.url);
