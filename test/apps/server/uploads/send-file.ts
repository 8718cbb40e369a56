import type { OrganisationUnderTest } from '../organisation-under-test.js';
import type { Account, Answer } from '../server-under-test.js';

export interface TestFile {
  readonly name: string;
  readonly type: string;
  readonly content: string;
}

export const picture: TestFile = { name: 'cat.png', type: 'image/png', content: 'a picture of a cat' };

/** A multipart form with a picture, or with the given files. */
export function fileForm(first: Partial<TestFile> = {}, ...others: readonly Partial<TestFile>[]) {
  const parts = [first, ...others].map((file, index) => {
    const { name, type, content } = { ...picture, ...file };
    const head = `content-disposition: form-data; name="file${index}"; filename="${name}"\r\ncontent-type: ${type}`;
    return `--x\r\n${head}\r\n\r\n${content}\r\n`;
  });
  return {
    headers: { 'content-type': 'multipart/form-data; boundary=x' },
    payload: `${parts.join('')}--x--\r\n`,
  };
}

/** Sends a form as an upload. */
export function sendForm(
  { server }: OrganisationUnderTest,
  { authorization }: Pick<Account, 'authorization'>,
  { headers, payload }: ReturnType<typeof fileForm>,
): Promise<Answer> {
  const url = '/api/v1/user_uploads';
  return server.send({ method: 'POST', url, headers: { ...headers, authorization }, payload });
}

/** Uploads a file, which must succeed. Returns its path without the `/user_uploads/` prefix. */
export async function upload(
  organisation: OrganisationUnderTest,
  account: Account,
  file: Partial<TestFile> = {},
): Promise<string> {
  const { status, body } = await sendForm(organisation, account, fileForm(file));
  if (status !== 200) throw new Error(`an upload: ${status} ${JSON.stringify(body)}`);
  return String(body.url).replace('/user_uploads/', '');
}
