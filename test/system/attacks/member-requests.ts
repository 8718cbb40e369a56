import { requestText } from './attack-requests.js';
import type { MemberData } from './member-data.js';

/** The requests of each attack, keyed by the member's action as a clause that follows "while". */
export type ExpensiveRequests = Readonly<Record<string, (data: MemberData) => readonly string[]>>;

type Fields = Readonly<Record<string, string>>;
type MakeRequest = (path: string, data: MemberData, fields: Fields) => string;

export const get = (path: string, { authorization }: MemberData, query: Fields = {}) =>
  requestText(`GET /api/v1/${path}?${new URLSearchParams(query)}`, { authorization });
export const post = withForm('POST');
export const patch = withForm('PATCH');
export const remove = withForm('DELETE');

function withForm(method: string): MakeRequest {
  return (path, { authorization }, fields) =>
    requestText(
      `${method} /api/v1/${path}`,
      { authorization, 'content-type': 'application/x-www-form-urlencoded' },
      new URLSearchParams(fields).toString(),
    );
}
