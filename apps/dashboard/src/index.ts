/** Folder with the relay's built page: `index.html` and content-hashed files in `assets`. */
// The relative path is valid from this source file and from its compiled file.
export const pageFolder = new URL('../dist/page/', import.meta.url);

/** Folder with the server's built page, in the same layout. */
export const serverPageFolder = new URL('../dist/server-page/', import.meta.url);
