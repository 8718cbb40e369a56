/** Folder of the relay's built page: `index.html`, and content-hashed files in `assets`. */
// This relative path is the same from the sources and from the compiled code.
export const pageFolder = new URL('../dist/page/', import.meta.url);

/** Folder of the server's built page, with the same layout. */
export const serverPageFolder = new URL('../dist/server-page/', import.meta.url);
