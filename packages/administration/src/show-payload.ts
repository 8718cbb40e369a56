/**
 * A job's payload as operators may see it: the values of the fields that are named, at any depth, and of all others only
 * how long they are. What is not JSON is not shown at all.
 */
export function showPayload(payload: string, shownFields: readonly string[]): unknown {
  let value: unknown;
  try {
    value = JSON.parse(payload);
  } catch {
    // A payload may be any text, which nothing is known of.
    return hidden(payload);
  }
  return show(value, new Set(shownFields), false);
}

function show(value: unknown, shownFields: ReadonlySet<string>, isShown: boolean): unknown {
  if (Array.isArray(value)) return value.map((item) => show(item, shownFields, isShown));
  if (typeof value === 'object' && value !== null) {
    return Object.fromEntries(
      Object.entries(value).map(([name, held]) => [name, show(held, shownFields, shownFields.has(name))]),
    );
  }
  return isShown || value === null ? value : hidden(JSON.stringify(value));
}

function hidden(text: string): string {
  return `not shown (${text.length} characters)`;
}
