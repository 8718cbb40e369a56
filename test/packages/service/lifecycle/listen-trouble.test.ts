import { createServer, type ListenOptions } from 'node:net';
import { describeBootError } from '@waxwing/service/lifecycle';
import { describe, expect, it } from 'vitest';

const listen = (options: ListenOptions) =>
  new Promise<ReturnType<typeof createServer>>((resolve, reject) => {
    const server = createServer();
    server.once('error', reject).listen(options, () => resolve(server));
  });

describe('A process that cannot listen reports the cause in one sentence', () => {
  it('if another process listens on the port', async () => {
    const taken = await listen({ host: '127.0.0.1', port: 0 });
    const address = taken.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    const error = await listen({ host: '127.0.0.1', port }).catch((error: unknown) => error);
    taken.close();
    expect(describeBootError(error)).toBe(
      `Another process listens on 127.0.0.1, port ${port}: stop it, or set another port.`,
    );
  });

  it.each([
    ['192.0.2.1', 'This machine has no address 192.0.2.1: set one of its addresses, or 0.0.0.0 for all.'],
    ['nowhere.invalid', 'The name nowhere.invalid cannot be resolved: correct it in the settings,'],
  ])('if the address is %s', async (host, sentence) => {
    const error = await listen({ host, port: 0 }).catch((error: unknown) => error);
    expect(describeBootError(error)).toContain(sentence);
  });

  it('if no name server answers', () => {
    const error = { code: 'EAI_AGAIN', syscall: 'getaddrinfo', hostname: 'relay.example' };
    expect(describeBootError(Object.assign(new Error('getaddrinfo EAI_AGAIN'), error))).toBe(
      'The name relay.example cannot be resolved: correct it in the settings, or fix DNS on this machine.',
    );
  });

  it('if the port is privileged', () => {
    const error = { code: 'EACCES', syscall: 'listen', address: '0.0.0.0', port: 80 };
    expect(describeBootError(Object.assign(new Error('listen EACCES'), error))).toBe(
      'This user may not listen on port 80: set a port of 1024 or above, and put a proxy in front.',
    );
  });
});

it.each([
  ['EEXIST', 'a file is where a folder is expected; check its path'],
  ['EISDIR', 'it is a folder; name a file'],
  ['ENOSPC', 'the disk is full; free some space'],
])('A process that cannot use a file because of %s names the file and the reason', (code, trouble) => {
  const error = Object.assign(new Error(code), { code, path: '/srv/ring.age' });
  expect(describeBootError(error)).toBe(`/srv/ring.age cannot be used: ${trouble}.`);
});
