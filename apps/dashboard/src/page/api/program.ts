/** Name of the program that serves the page, such as `relay`, as the page's `application-name` gives it. */
export const program =
  document.querySelector<HTMLMetaElement>('meta[name="application-name"]')?.content ?? 'program';

/** The name in titles. */
export const productName = `Waxwing ${program}`;
