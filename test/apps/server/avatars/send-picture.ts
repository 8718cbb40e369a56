import type { OrganisationUnderTest } from '../organisation-under-test.js';
import type { Answer } from '../server-under-test.js';
import { fileForm, type TestFile } from '../uploads/send-file.js';

export const png: TestFile = {
  name: 'me.png',
  type: 'image/png',
  content: '\u0089PNG\r\n\u001a\nthe rest',
};

export type Who = Parameters<OrganisationUnderTest['id']>[0];

/** Uploads files as a user's avatar. Each character of a file's content stands for one byte. */
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

/** Uploads an avatar, which must succeed. Returns its path on the server. */
export async function givePicture(
  organisation: OrganisationUnderTest,
  who: Who,
  file: Partial<TestFile> = png,
): Promise<string> {
  const { status, body } = await sendPicture(organisation, who, file);
  if (status !== 200) throw new Error(`a picture: ${status} ${JSON.stringify(body)}`);
  return String(body.avatar_url);
}
