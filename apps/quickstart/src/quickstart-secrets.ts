import { readPrivateFile, writePrivateFile } from '@waxwing/service/config';
import { z } from 'zod';

const shape = z.object({
  /** The relay's credentials for the server. */
  server: z.object({ serverId: z.string(), serverKey: z.string() }).optional(),
  /** API keys by email address. Kept here, because the server stores only hashes. */
  apiKeys: z.record(z.string(), z.string()),
});

/** Secrets that commands show only at creation. They are stored so that later starts can use them again. */
export type QuickstartSecrets = z.infer<typeof shape>;

/** Reads the secrets of an earlier start. Resolves to an empty object at the first start. */
export async function readQuickstartSecrets(path: string): Promise<QuickstartSecrets> {
  try {
    return shape.parse(JSON.parse(await readPrivateFile(path, 'the quickstart’s API keys')));
  } catch (error) {
    const { code } = ((error as Error).cause ?? {}) as NodeJS.ErrnoException;
    if (code === 'ENOENT') return { apiKeys: {} };
    throw error;
  }
}

/** Writes the secrets. Call it after each new secret, so that no secret is lost if the process is killed. */
export async function writeQuickstartSecrets(path: string, secrets: QuickstartSecrets): Promise<void> {
  await writePrivateFile(path, `${JSON.stringify(secrets, undefined, 2)}\n`);
}
