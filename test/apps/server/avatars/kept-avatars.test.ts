import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { removeUnclaimedUploads } from '#server/content/uploads/remove-unclaimed-uploads.js';
import { openUploads } from '#server/content/uploads/uploads.js';
import { S3StandIn } from '../../../support/s3-stand-in.js';
import { eachBackend } from '../../../support/test-databases.js';
import { OrganisationUnderTest } from '../organisation-under-test.js';
import { givePicture, png, sendPicture } from './send-picture.js';

const day = 24 * 60 * 60_000;

eachBackend((backend) => {
  let organisation: OrganisationUnderTest;
  beforeEach(() => {
    organisation = new OrganisationUnderTest();
  });
  afterEach(() => organisation.server.close());

  const load = (url: string) => organisation.server.server.app.inject({ method: 'GET', url });

  describe('an avatar on disk', () => {
    beforeEach(async () => organisation.start(await backend.freshUrl()));

    const folder = () => join(organisation.server.folder, 'uploads');
    const placeOf = (url: string) => join(folder(), url.replace('/user_avatars/', ''));

    async function cleanUp(): Promise<number> {
      const { database } = organisation.server.server;
      const store = { kind: 'disk', folder: folder() } as const;
      const uploads = await openUploads(database, { store, quotaBytes: undefined });
      const { log } = organisation.server.logged;
      const context = { database, uploads, log, clock: () => organisation.server.now };
      return removeUnclaimedUploads(context, new AbortController().signal);
    }

    it('is kept while the user has it, although no message refers to the file', async () => {
      const url = await givePicture(organisation, 'member');
      organisation.server.now += 1000 * day;
      expect(await cleanUp()).toBe(0);
      expect((await load(url)).statusCode).toBe(200);
    });

    it('is hidden immediately if its bytes cannot be deleted yet, and is deleted within two days', async () => {
      const url = await givePicture(organisation, 'member');
      const place = placeOf(url);
      rmSync(place);
      mkdirSync(join(place, 'something'), { recursive: true });
      expect((await organisation.ask('member', 'DELETE', 'users/me/avatar')).status).toBe(200);
      expect((await load(url)).statusCode).toBe(404);
      const told = organisation.server.logged.lines().filter(({ path }) => path !== undefined);
      expect(told.map(({ msg }) => msg)).toEqual([
        'an uploaded file could not be removed; the removal will be retried',
      ]);
      rmSync(place, { recursive: true });
      writeFileSync(place, png.content);
      organisation.server.now += day + 1;
      expect(await cleanUp()).toBe(1);
    });
  });

  describe('an avatar in an S3 store', () => {
    const folder = mkdtempSync(join(tmpdir(), 'waxwing-avatars-'));
    const secretKeyFile = join(folder, 's3-key');
    let s3: S3StandIn;
    beforeAll(async () => {
      s3 = await S3StandIn.start();
      writeFileSync(secretKeyFile, 'a secret key\n', { mode: 0o600 });
    });
    afterAll(async () => {
      rmSync(folder, { recursive: true });
      await s3.close();
    });

    it('is stored with its type, served, replaced and removed', async () => {
      await organisation.start(await backend.freshUrl(), {
        uploads: {
          store: {
            kind: 's3',
            bucket: 'files',
            region: 'eu-central-1',
            endpoint: s3.url,
            accessKeyId: 'waxwing',
            secretKeyFile,
          },
        },
      });
      await givePicture(organisation, 'member', { content: 'GIF89a and the rest' });
      const url = await givePicture(organisation, 'member');
      const [[key, object] = [], ...others] = s3.objects;
      expect([key, object?.type, others]).toEqual([url.replace('/user_avatars/', ''), 'image/png', []]);
      expect((await load(url)).rawPayload.toString('latin1')).toBe(png.content);
      const tooLarge = png.content + 'x'.repeat(5 * 1024 * 1024);
      expect((await sendPicture(organisation, 'member', { ...png, content: tooLarge })).status).toBe(400);
      expect([[...s3.objects.keys()], s3.unfinished.size]).toEqual([[key], 0]);
      await organisation.do('member', 'DELETE', 'users/me/avatar');
      expect(s3.objects.size).toBe(0);
    });
  });
});
