import { readPrivateFile, writePrivateFile } from '@waxwing/service/config';
import { z } from 'zod';

const shape = z.object({
  /** The relay's credentials for the server. */
  server: z.object({ serverId: z.string(), serverKey: z.string() }).optional(),
  /** API key of each user, by e-mail address: the server keeps only hashes. */
  apiKeys: z.record(z.string(), z.string()),
});

/** What was shown only once when it was made, so that later starts can show it again. */
export type QuickstartSecrets = z.infer<typeof shape>;

/** Those of an earlier start; none at the first. */
export async function readQuickstartSecrets(path: string): Promise<QuickstartSecrets> {
  try {
    return shape.parse(JSON.parse(await readPrivateFile(path, 'the quickstart’s API keys')));
  } catch (error) {
    const { code } = ((error as Error).cause ?? {}) as NodeJS.ErrnoException;
    if (code === 'ENOENT') return { apiKeys: {} };
    throw error;
  }
}

/** Written after each thing that was made, so that a kill in between loses none. */
export async function writeQuickstartSecrets(path: string, secrets: QuickstartSecrets): Promise<void> {
  await writePrivateFile(path, `${JSON.stringify(secrets, undefined, 2)}\n`);
}
