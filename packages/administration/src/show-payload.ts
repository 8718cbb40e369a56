/**
 * Redacts a job's payload for operators. Shows the values of `shownFields` at any depth, and only the lengths of all
 * other values. A payload that is not JSON is hidden as a whole.
 */
export function showPayload(payload: string, shownFields: readonly string[]): unknown {
  let value: unknown;
  try {
    value = JSON.parse(payload);
  } catch {
    // A payload that is not JSON has no field names, so any part of it may be secret: hide all of it.
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
