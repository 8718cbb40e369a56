import { execFileSync, spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { root } from './installation.js';

const script = join(root, 'deploy/publish-image.sh');
const workflows = join(root, '.github/workflows');
/** Stand-in for docker. Writes its arguments to a file, and the digest to the file named by `--metadata-file`. */
const docker = `#!/bin/sh
printf '%s\\n' "$SOURCE_DATE_EPOCH" "$@" > "$ARGUMENTS"
while [ "$1" != --metadata-file ]; do shift; done
echo '{"containerimage.digest": "sha256:abc"}' > "$2"
`;

interface Step {
  readonly name: string;
  readonly uses?: string;
  readonly env?: { readonly TOKEN?: string };
  readonly run: string;
}

describe('the published image', () => {
  let dir: string;
  beforeAll(() => {
    dir = mkdtempSync(join(tmpdir(), 'waxwing-publish-'));
    writeFileSync(join(dir, 'docker'), docker);
    chmodSync(join(dir, 'docker'), 0o755);
  });
  afterAll(() => rmSync(dir, { recursive: true }));

  it('is built from the Dockerfile for both architectures, with the version as its tag', () => {
    const file = join(dir, 'arguments');
    const env = { PATH: `${dir}:${process.env.PATH}`, ARGUMENTS: file };
    const name = 'registry.example.com/waxwing';
    expect(execFileSync(script, [name], { env, encoding: 'utf8' })).toBe(`${name}@sha256:abc\n`);
    const [time, ...given] = readFileSync(file, 'utf8').trim().split('\n');
    expect(Number(time)).toBeGreaterThan(1_700_000_000);
    const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
    expect(given.slice(0, 9)).toEqual(
      [
        'buildx build .',
        '--file deploy/Dockerfile',
        '--platform linux/amd64,linux/arm64',
        `--tag ${name}:${version}`,
      ].flatMap((pair) => pair.split(' ')),
    );
    expect(given).toContain('type=image,push=true,rewrite-timestamp=true');
  });

  it('is not built if the image name is missing', () => {
    const { status, stderr } = spawnSync(script, [], { encoding: 'utf8' });
    expect(status).not.toBe(0);
    expect(stderr).toContain('name the image');
  });

  it('is published by a workflow that exposes its token to no third-party code', () => {
    const files = readdirSync(workflows);
    expect(files).toEqual(['image.yml']);
    const workflow = parse(readFileSync(join(workflows, 'image.yml'), 'utf8'));
    expect(workflow.permissions).toEqual({ contents: 'read', packages: 'write' });
    expect(workflow.on).toEqual({ push: { tags: ['v*'] } });
    expect(Object.keys(workflow.jobs.image.env)).toEqual(['IMAGE']);
    const steps = workflow.jobs.image.steps as readonly Step[];
    const withToken = steps.filter(({ env }) => env?.TOKEN !== undefined);
    expect(withToken.map(({ name }) => name)).toEqual(['Check out the tag', 'Log in']);
    expect(steps.filter(({ uses }) => uses !== undefined)).toEqual([]);
    for (const { run } of steps) {
      expect(spawnSync('bash', ['-n'], { input: run, encoding: 'utf8' })).toMatchObject({
        status: 0,
        stderr: '',
      });
      // An expression in a script would allow shell injection through the name of a tag.
      expect(run).not.toContain('${{');
    }
    const [path = ''] = /^deploy\/\S+/.exec(steps.at(-1)?.run ?? '') ?? [];
    expect(existsSync(join(root, path))).toBe(true);
  });
});
