import { type JsonValue, stringifyJson } from '@waxwing/protocol';

/** The body of a request, with its media type. */
export interface RequestContent {
  readonly type: string;
  readonly body: string;
}

export function jsonOf(value: JsonValue): RequestContent {
  return { type: 'application/json', body: stringifyJson(value) };
}

export function formOf(fields: Readonly<Record<string, string>>): RequestContent {
  return { type: 'application/x-www-form-urlencoded', body: new URLSearchParams(fields).toString() };
}
