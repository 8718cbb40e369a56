/** Name of the program that serves the page, such as `relay`, from the page's `application-name`. */
export const program =
  document.querySelector<HTMLMetaElement>('meta[name="application-name"]')?.content ?? 'program';

/** The program's name in titles. */
export const productName = `Waxwing ${program}`;
