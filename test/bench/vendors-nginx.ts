import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../support/free-ports.js';
import { untilReady } from '../support/until-ready.js';

/**
 * nginx in the place of FCM (over HTTP) and APNs (over TLS and HTTP/2). It accepts every notification immediately and
 * checks nothing. Unlike the stand-ins, nginx responds faster than any Node program can send, so a benchmark measures
 * the rate of the sender.
 */
export interface VendorsNginx {
  readonly fcm: string;
  readonly apns: string;
  /** Certificate of `apns`, in PEM format. */
  readonly ca: string;
  stop(): Promise<void>;
}

/** @throws Error if nginx or openssl is not installed. */
export async function startVendorsNginx(): Promise<VendorsNginx> {
  const folder = mkdtempSync(join(tmpdir(), 'waxwing-bench-nginx-'));
  mkdirSync(join(folder, 'logs'));
  const port = await freePort(2);
  const [fcm, apns] = [`127.0.0.1:${port}`, `127.0.0.1:${port + 1}`];
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-keyout', 'key.pem'];
  const certificate = [
    '-out',
    'cert.pem',
    '-subj',
    '/CN=127.0.0.1',
    '-addext',
    'subjectAltName=IP:127.0.0.1',
  ];
  execFileSync('openssl', ['req', '-x509', '-days', '1', ...key, ...certificate], {
    cwd: folder,
    stdio: 'ignore',
  });
  writeFileSync(join(folder, 'nginx.conf'), configuration(folder, { fcm, apns }));
  const child = spawn('nginx', ['-p', folder, '-c', 'nginx.conf', '-e', `${folder}/logs/error.log`], {
    stdio: 'ignore',
  });
  const ended = once(child, 'exit');
  await untilReady(`http://${fcm}/`, child, () => readFileSync(join(folder, 'logs/error.log'), 'utf8'));
  return {
    fcm: `http://${fcm}`,
    apns: `https://${apns}`,
    ca: readFileSync(join(folder, 'cert.pem'), 'utf8'),
    async stop() {
      child.kill('SIGTERM');
      await ended;
      rmSync(folder, { recursive: true });
    },
  };
}

function configuration(folder: string, { fcm, apns }: Readonly<Record<'fcm' | 'apns', string>>): string {
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (kind) => `${kind}_temp_path ${folder}/${kind};`,
  );
  return `
    daemon off; master_process off; pid ${folder}/nginx.pid; error_log ${folder}/logs/error.log;
    events { worker_connections 4096; }
    http {
      access_log off; keepalive_requests 1000000000; ${temporary.join(' ')}
      server {
        listen ${fcm};
        location / { default_type application/json; return 200 '{"name":"projects/bench/messages/1"}'; }
      }
      server {
        listen ${apns} ssl http2;
        ssl_certificate ${folder}/cert.pem; ssl_certificate_key ${folder}/key.pem;
        http2_max_concurrent_streams 1000; client_max_body_size 0;
        location / { add_header apns-id $http_apns_id; return 200; }
      }
    }`;
}
