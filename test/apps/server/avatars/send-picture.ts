import type { OrganisationUnderTest } from '../organisation-under-test.js';
import type { Answer } from '../server-under-test.js';
import { fileForm, type TestFile } from '../uploads/send-file.js';

export const png: TestFile = {
  name: 'me.png',
  type: 'image/png',
  content: '\u0089PNG\r\n\u001a\nthe rest',
};

export type Who = Parameters<OrganisationUnderTest['id']>[0];

/** Sends files as the picture of a user; each letter of their content is a byte. */
export function sendPicture(
  { server, accounts }: OrganisationUnderTest,
  who: Who,
  ...files: readonly Partial<TestFile>[]
): Promise<Answer> {
  const { headers, payload } = fileForm(...files);
  const { authorization } = accounts[who];
  return server.send({
    method: 'POST',
    url: '/api/v1/users/me/avatar',
    headers: { ...headers, authorization },
    payload: Buffer.from(payload, 'latin1'),
  });
}

/** Gives a user a picture, which must succeed; its path on the server. */
export async function givePicture(
  organisation: OrganisationUnderTest,
  who: Who,
  file: Partial<TestFile> = png,
): Promise<string> {
  const { status, body } = await sendPicture(organisation, who, file);
  if (status !== 200) throw new Error(`a picture: ${status} ${JSON.stringify(body)}`);
  return String(body.avatar_url);
}
