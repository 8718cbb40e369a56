import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { freePort } from '../../support/free-ports.js';

export const root = join(import.meta.dirname, '../../..');
const page = readFileSync(join(root, 'docs/install.md'), 'utf8');

/** The shell lines on the installation page that have this mark. */
export function linesMarked(mark: string): string {
  const blocks = [...page.matchAll(/<!-- (run by a test[a-z: ]*) -->\n```sh\n([\s\S]*?)```/g)];
  return blocks.flatMap(([, marked, code]) => (marked === mark ? [code] : [])).join('\n');
}

interface VendorsLine {
  readonly urls: { readonly http: string; readonly fcm: string };
  readonly credentials: { readonly serviceAccountFile: string };
}

/**
 * An installation in a new folder that follows docs/install.md. Runs the page's lines with separate ports, names and
 * databases, and otherwise unchanged.
 */
export class Installation {
  readonly dir = mkdtempSync(join(tmpdir(), 'waxwing-install-'));
  readonly #running: ChildProcess[] = [];
  readonly #postgresUrl: string;
  readonly #replaced: readonly (readonly [string, string])[];
  readonly #ports: { readonly http: number; readonly https: number; readonly programs: readonly number[] };
  readonly #suffix = String(process.pid);
  output = '';

  static async create(postgresUrl: string): Promise<Installation> {
    return new Installation(postgresUrl, await freePort(6));
  }

  private constructor(postgresUrl: string, port: number) {
    const { dir } = this;
    this.#postgresUrl = postgresUrl;
    this.#ports = { http: port, https: port + 1, programs: [port + 2, port + 3, port + 4, port + 5] };
    const { host } = new URL(postgresUrl);
    this.#replaced = [
      ...[':8310', ':8320', '=9310', '=9320'].map(
        (is, index) => [is, `${is[0]}${port + 2 + index}`] as const,
      ),
      ['postgres://postgres@127.0.0.1:5432/postgres', postgresUrl],
      ['@127.0.0.1:5432/', `@${host}/`],
      ['/tmp/waxwing', join(dir, 'tarballs')],
      ['/opt/waxwing', join(dir, 'opt')],
      ['/var/lib/', join(dir, 'lib/')],
      ['/etc/waxwing', join(dir, 'etc')],
      ['/etc/nginx', join(dir, 'nginx')],
      ['"$WAXWING"/deploy', join(dir, 'deploy')],
      ['DNS:chat.example.com,DNS:relay.example.com', 'DNS:localhost,IP:127.0.0.1'],
      ['https://chat.example.com', this.serverUrl],
      ['https://relay.example.com', this.relayUrl],
      ['chat.example.com', 'localhost'],
      ['server_name relay.example.com', 'server_name 127.0.0.1'],
      ['listen 80 ', `listen 127.0.0.1:${port} `],
      ['listen 443 ', `listen 127.0.0.1:${port + 1} `],
      ...['relay', 'server'].map(
        (name) => [`waxwing_${name}`, `waxwing_${name}_test_${this.#suffix}`] as const,
      ),
      ['waxwing_$program', `waxwing_\${program}_test_${this.#suffix}`],
    ];
  }

  get serverUrl(): string {
    return `https://localhost:${this.#ports.https}`;
  }

  get relayUrl(): string {
    return `https://127.0.0.1:${this.#ports.https}`;
  }

  get httpUrl(): string {
    return `http://localhost:${this.#ports.http}`;
  }

  get certificate(): string {
    return join(this.dir, 'etc/tls/chat.pem');
  }

  /** Replaces the page's paths, names and ports by those of this installation. */
  placed(text: string): string {
    return this.#replaced.reduce((so, [from, to]) => so.replaceAll(from, to), text);
  }

  /** Installs and starts everything. The vendors' stand-ins of the installed packages replace Google. */
  async run(): Promise<VendorsLine> {
    const { dir } = this;
    for (const folder of ['lib', 'etc/relay', 'nginx/conf.d', 'nginx/logs'])
      mkdirSync(join(dir, folder), { recursive: true });
    this.#placeDeploy();
    const lines = linesMarked('run by a test');
    const databases = lines.indexOf('for program');
    await this.shell(lines.slice(0, databases), root);
    this.#startNginx();
    const vendors = await this.#startVendors();
    const apps = { fcm: [{ service_account_file: vendors.credentials.serviceAccountFile }] };
    writeFileSync(join(dir, 'etc/relay/apps.json'), JSON.stringify(apps), { mode: 0o600 });
    const [serverPort, relayPort] = this.#ports.programs;
    const env = {
      SERVER_PORT: String(serverPort),
      RELAY_PORT: String(relayPort),
      RELAY_FCM_BASE_URL: vendors.urls.fcm,
    };
    const shell = this.start(
      'bash',
      ['--norc', '-euc', this.#script(lines.slice(databases))],
      join(dir, 'opt'),
      env,
    );
    await this.printed(shell, /everything runs\n$/);
    return vendors;
  }

  /** Runs the given lines of the page to completion. @throws Error with their output if one fails. */
  async shell(lines: string, cwd: string): Promise<void> {
    const child = this.start('bash', ['--norc', '-euc', this.placed(lines)], cwd);
    const [status] = await once(child, 'close');
    if (status !== 0) throw new Error(`the lines of the page exited with status ${status}:\n${this.output}`);
  }

  /** Runs a command of an installed program with the page's settings. Returns the command's parsed `--json` output. */
  command<Answer>(program: 'relay' | 'server', args: readonly string[]): Answer {
    const { dir } = this;
    const line = `set -a; . ${dir}/etc/${program}.env; exec ${dir}/opt/node_modules/.bin/waxwing-${program} "$@"`;
    const output = execFileSync('bash', ['-c', line, 'bash', ...args, '--json'], { encoding: 'utf8' });
    return JSON.parse(output) as Answer;
  }

  async close(): Promise<void> {
    for (const child of this.#running.reverse()) {
      if (child.exitCode !== null) continue;
      const closed = once(child, 'close');
      child.stdin?.end();
      if (child.spawnfile !== 'bash') child.kill('SIGTERM');
      await closed;
    }
    const client = new pg.Client({ connectionString: this.#postgresUrl });
    await client.connect();
    for (const name of ['relay', 'server'].map((program) => `waxwing_${program}_test_${this.#suffix}`)) {
      await client.query(`drop database if exists ${name} with (force)`);
      await client.query(`drop role if exists ${name}`);
    }
    await client.end();
    rmSync(this.dir, { recursive: true, force: true });
  }

  /** Replaces the paths, names and ports in the files of the deploy folder. */
  #placeDeploy(): void {
    const deploy = join(this.dir, 'deploy');
    cpSync(join(root, 'deploy'), deploy, { recursive: true });
    for (const entry of readdirSync(deploy, { recursive: true, withFileTypes: true })) {
      const file = join(entry.parentPath, entry.name);
      if (entry.isFile()) writeFileSync(file, this.placed(readFileSync(file, 'utf8')));
    }
  }

  /**
   * Builds a script from the lines. The script passes nginx its configuration file. When the script's input ends, it
   * stops everything that the lines have started.
   */
  #script(lines: string): string {
    return `set -m; trap 'for job in $(jobs -p); do kill -- -$job; done; wait' EXIT
      nginx() { command nginx -p ${join(this.dir, 'nginx')} -c nginx.conf "$@"; }
      PATH=${join(this.dir, 'opt/node_modules/.bin')}:$PATH
      ${this.placed(lines)}
      echo 'everything runs'; read -r _ || true`;
  }

  #startNginx(): void {
    const folder = join(this.dir, 'nginx');
    const user = process.getuid?.() === 0 ? 'user root;' : '';
    const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
      (kind) => `${kind}_temp_path ${folder}/${kind};`,
    );
    writeFileSync(
      join(folder, 'nginx.conf'),
      `${user} daemon off; pid ${folder}/nginx.pid; error_log ${folder}/logs/error.log; events {}
      http { access_log off; ${temporary.join(' ')} include ${folder}/conf.d/*.conf; }\n`,
    );
    this.start('nginx', ['-p', folder, '-c', 'nginx.conf'], folder);
  }

  async #startVendors(): Promise<VendorsLine> {
    // The page does not install these packages, because they are not for production.
    const tarballs = ['waxwing-service', 'waxwing-protocol', 'trial/waxwing-vendors'];
    const files = tarballs.map((name) => `/tmp/waxwing/${name}-*.tgz`).join(' ');
    const lines = `npm init --yes\nnpm install --no-audit --no-fund ${files}`;
    mkdirSync(join(this.dir, 'trial'));
    await this.shell(lines, join(this.dir, 'trial'));
    const bin = join(this.dir, 'trial/node_modules/.bin/waxwing-vendors');
    const child = this.start(bin, ['--json', '--port-base', '0'], this.dir);
    return JSON.parse(await this.printed(child, /^\{.*\}$/m)) as VendorsLine;
  }

  /** Starts a process. The end of the installation stops the process if it is still running. */
  start(command: string, args: readonly string[], cwd: string, env: Record<string, string> = {}) {
    const { PATH = '', HOME = '' } = process.env;
    const preferOffline = { npm_config_prefer_offline: 'true', npm_config_update_notifier: 'false' };
    const child = spawn(command, args, {
      cwd,
      env: { PATH: `${PATH}:/usr/sbin`, HOME, ...preferOffline, ...env },
      stdio: 'pipe',
    });
    this.#running.push(child);
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk: Buffer) => {
        this.output += chunk.toString('utf8');
      });
    }
    return child;
  }

  /** Resolves to the first match in a process's output. @throws Error with all output if the process exits first. */
  async printed(child: ChildProcess, pattern: RegExp): Promise<string> {
    let output = '';
    child.stdout?.on('data', (chunk: Buffer) => {
      output += chunk.toString('utf8');
    });
    for (;;) {
      const [found] = pattern.exec(output) ?? [];
      if (found !== undefined) return found;
      if (child.exitCode !== null)
        throw new Error(`the process exited with status ${child.exitCode}:\n${this.output}`);
      await Promise.race([once(child.stdout as NodeJS.ReadableStream, 'data'), once(child, 'close')]);
    }
  }
}
