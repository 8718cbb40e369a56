/** Folder of the relay's built page: `index.html`, and content-hashed files in `assets`. */
// The same path from the sources and from the compiled code.
export const pageFolder = new URL('../dist/page/', import.meta.url);

/** The same for the server's page. */
export const serverPageFolder = new URL('../dist/server-page/', import.meta.url);
