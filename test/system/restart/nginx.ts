import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../../support/free-ports.js';
import { untilReady } from '../../support/until-ready.js';

const program = '/usr/sbin/nginx';
const deploy = join(import.meta.dirname, '../../../deploy/nginx');

/** Whether nginx is installed. */
export const hasNginx = existsSync(program);

/** A real nginx with the files in deploy/nginx. Uses separate ports and no TLS. */
export interface Nginx {
  /** Requests to servers and relays that got 5xx, one line each. */
  errors(): string;
  failures(): string[];
  close(): Promise<void>;
}

/** The port on which nginx listens for a program, and the ports of the program's processes. */
interface Proxied {
  readonly port: number;
  readonly processes: readonly number[];
}

export async function startNginx(server: Proxied, relay: Proxied): Promise<Nginx> {
  const folder = mkdtempSync(join(tmpdir(), 'waxwing-nginx-'));
  const probe = await freePort();
  mkdirSync(join(folder, 'logs'));
  writeFileSync(join(folder, 'upstreams.conf'), upstreams(server, relay));
  writeFileSync(join(folder, 'waxwing.conf'), withoutTls(server, relay));
  const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (kind) => `${kind}_temp_path ${folder}/${kind};`,
  );
  const user = process.getuid?.() === 0 ? 'user root;' : '';
  writeFileSync(
    join(folder, 'nginx.conf'),
    `${user} daemon off; pid ${folder}/nginx.pid; error_log ${folder}/logs/error.log info; events {}
    http {
      log_format outcome '$status $upstream_status $request_method $uri $time_iso8601 $upstream_response_time $upstream_addr';
      access_log ${folder}/logs/access.log outcome;
      ${paths.join(' ')}
      server { listen 127.0.0.1:${probe}; access_log off; location / { return 200; } }
      include ${folder}/upstreams.conf;
      include ${folder}/waxwing.conf;
    }`,
  );
  const child = spawn(program, ['-p', folder, '-c', 'nginx.conf'], { stdio: 'ignore' });
  const ended = once(child, 'exit');
  const log = (name: string) => readFileSync(join(folder, 'logs', name), 'utf8');
  await untilReady(`http://127.0.0.1:${probe}/`, child, () => log('error.log'));
  return {
    errors: () => log('error.log'),
    failures: () =>
      log('access.log')
        .split('\n')
        .filter((line) => /^5/.test(line)),
    async close() {
      child.kill('SIGTERM');
      await ended;
      rmSync(folder, { recursive: true });
    },
  };
}

function upstreams(server: Proxied, relay: Proxied): string {
  const text = readFileSync(join(deploy, 'upstreams.conf'), 'utf8');
  const lines = (of: readonly number[]) =>
    of.map((port) => `server 127.0.0.1:${port} max_fails=0;`).join('\n  ');
  return text
    .replace('server 127.0.0.1:8310 max_fails=0;', lines(server.processes))
    .replace('server 127.0.0.1:8320 max_fails=0;', lines(relay.processes));
}

/** The text of waxwing.conf with a separate port for each program, and without the redirect. */
function withoutTls(server: Proxied, relay: Proxied): string {
  const text = readFileSync(join(deploy, 'waxwing.conf'), 'utf8')
    .replace(/^server \{\n {2}listen 80[\s\S]*?^\}\n/m, '')
    .replace(/^ *ssl_.*\n/gm, '')
    .replace(/^ *server_name .*\n/gm, '');
  return text
    .replace('listen 443 ssl;', `listen 127.0.0.1:${server.port};`)
    .replace('listen 443 ssl;', `listen 127.0.0.1:${relay.port};`);
}
