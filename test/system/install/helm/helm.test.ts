import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readRelayEnvironment } from '@waxwing/relay';
import { readServerEnvironment } from '@waxwing/server';
import { Ajv } from 'ajv';
import { describe, expect, it } from 'vitest';
import { root } from '../installation.js';
import {
  chartFile,
  defaultValues,
  type KubernetesObject,
  merged,
  rendered,
  renderedText,
  type Values,
  valuesSchema,
} from './chart.js';

/** Only the values that an operator must set. */
const least: Values = {
  image: { repository: 'registry.example.com/waxwing' },
  server: { realmUrl: 'https://chat.example.com', uploads: { bucket: 'files', accessKeyId: 'key' } },
};
/** Values that enable all optional parts. */
const everything: Values = merged(least, {
  imagePullSecrets: [{ name: 'registry' }],
  image: { digest: `sha256:${'ab'.repeat(32)}` },
  relay: {
    appsFile: 'apps.json',
    trustedProxies: '10.0.0.0/8',
    metrics: true,
    settings: { RELAY_LOG_LEVEL: 'debug', RELAY_PLAINTEXT_DEVICES: 'on' },
    storage: { storageClassName: 'fast' },
  },
  server: {
    uploads: { endpoint: 'https://s3.example.com' },
    trustedProxies: '10.0.0.0/8',
    metrics: true,
    settings: { SERVER_UPLOADS_QUOTA_MIB: 10 },
  },
});
const onDisk: Values = merged(least, { server: { uploads: { bucket: '', existingClaim: 'files' } } });

const allows = new Ajv({ strict: true, allowUnionTypes: true }).compile(valuesSchema);
const podOf = (object: KubernetesObject) => object.spec.template.spec;
const programsIn = (values: Values) =>
  rendered(values).filter(({ kind }) => kind === 'StatefulSet' || kind === 'Deployment');

/** The environment variables of a program's container, with a sample URL for the database URL in the secret. */
function environmentOf(object: KubernetesObject): Record<string, string> {
  const [container] = podOf(object).containers;
  return Object.fromEntries(
    container.env.map(({ name, value, valueFrom }: KubernetesObject) => [
      name,
      valueFrom === undefined ? value : 'postgres://user:password@postgres/waxwing',
    ]),
  );
}

describe('the Helm chart', () => {
  it('has the same version as the packages', () => {
    const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
    expect([chartFile.version, chartFile.appVersion]).toEqual([version, version]);
    expect(readdirSync(join(root, 'deploy/helm/templates')).sort()).toEqual([
      '_helpers.tpl',
      'relay.yaml',
      'server.yaml',
    ]);
  });

  it.each([
    ['the least values', least],
    ['every value', everything],
    ['a volume claim for files', onDisk],
  ])('renders the objects of each program with %s', (_, values) => {
    expect(allows(merged(defaultValues, values)), JSON.stringify(allows.errors)).toBe(true);
    expect(rendered(values).map(({ kind, metadata }) => `${kind} ${metadata.name}`)).toEqual([
      'StatefulSet waxwing-relay',
      'Service waxwing-relay',
      'PodDisruptionBudget waxwing-relay',
      'Deployment waxwing-server',
      'Service waxwing-server',
      'PodDisruptionBudget waxwing-server',
    ]);
  });

  it('can render either program without the other', () => {
    const relay = rendered(merged(least, { server: { enabled: false } }));
    expect(relay.map(({ metadata }) => metadata.name)).toEqual(Array(3).fill('waxwing-relay'));
    const server = rendered(merged(least, { relay: { enabled: false } }));
    expect(server.map(({ metadata }) => metadata.name)).toEqual(Array(3).fill('waxwing-server'));
  });

  it.each([
    ['the least values', least],
    ['every value', everything],
    ['a volume claim for files', onDisk],
  ])('sets only settings that the programs read, with %s', (_, values) => {
    const [relay, server] = programsIn(values);
    expect(() => readRelayEnvironment(environmentOf(relay))).not.toThrow();
    expect(() => readServerEnvironment(environmentOf(server))).not.toThrow();
    expect(() => readRelayEnvironment({ ...environmentOf(relay), RELAY_PORTS: '1' })).toThrow();
  });

  it('contains no secret, and refers only to secrets that the operator creates', () => {
    expect(renderedText(everything)).not.toMatch(/kind: Secret|postgres:\/\//);
    for (const object of programsIn(everything)) {
      const [{ env }] = podOf(object).containers;
      const fromSecrets = env.filter(({ valueFrom }: KubernetesObject) => valueFrom !== undefined);
      expect(fromSecrets).toEqual([
        {
          name: expect.stringMatching(/^(?:RELAY|SERVER)_DATABASE$/),
          valueFrom: { secretKeyRef: { name: object.metadata.name, key: 'database-url' } },
        },
      ]);
      // Only root and the program's group can read the secret, because the programs reject wider permissions.
      const { volumes, securityContext } = podOf(object);
      expect(volumes[0].secret).toEqual({ secretName: object.metadata.name, defaultMode: 0o440 });
      expect(securityContext.fsGroup).toBe(securityContext.runAsGroup);
    }
  });

  it('runs every container without root, privileges and a writable root file system', () => {
    for (const object of programsIn(everything)) {
      const pod = podOf(object);
      expect(pod).toMatchObject({
        automountServiceAccountToken: false,
        enableServiceLinks: false,
        securityContext: { runAsNonRoot: true, runAsUser: 1000, seccompProfile: { type: 'RuntimeDefault' } },
      });
      for (const { securityContext, image } of [...(pod.initContainers ?? []), ...pod.containers]) {
        expect(image).toBe(`registry.example.com/waxwing@sha256:${'ab'.repeat(32)}`);
        expect(securityContext).toEqual({
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ['ALL'] },
        });
      }
    }
  });

  it('gives pods time to drain, and probes only ports on which the programs listen', () => {
    for (const object of programsIn(everything)) {
      const pod = podOf(object);
      const [container] = pod.containers;
      const env = environmentOf(object);
      const name = container.name.toUpperCase();
      expect(pod.terminationGracePeriodSeconds).toBeGreaterThan(Number(env[`${name}_DRAIN_SECONDS`]) + 10);
      const ports = Object.fromEntries(
        container.ports.map(({ name: port, containerPort }: KubernetesObject) => [
          port,
          String(containerPort),
        ]),
      );
      expect(ports).toEqual({ http: env[`${name}_PORT`], metrics: env[`${name}_METRICS_PORT`] });
      for (const probe of ['startupProbe', 'livenessProbe', 'readinessProbe']) {
        expect(container[probe].httpGet).toEqual({
          path: expect.stringMatching(/^\/health\/(?:live|ready)$/),
          port: 'http',
        });
      }
      const mounted = container.volumeMounts.map((mount: KubernetesObject) => mount.name);
      const claimed = object.spec.volumeClaimTemplates ?? [];
      const offered = [...pod.volumes, ...claimed.map(({ metadata }: KubernetesObject) => metadata)];
      expect(offered.map((volume) => volume.name).sort()).toEqual(mounted.sort());
    }
  });

  it('replaces pods one after another, unless the operator chooses another strategy', () => {
    const strategies = (values: Values) =>
      programsIn(values).map(({ spec }) => (spec.updateStrategy ?? spec.strategy).type);
    expect(strategies(least)).toEqual(['RollingUpdate', 'RollingUpdate']);
    const stopped = { relay: { updateStrategy: 'OnDelete' }, server: { updateStrategy: 'Recreate' } };
    expect(strategies(merged(least, stopped))).toEqual(['OnDelete', 'Recreate']);
  });

  it('has services and disruption budgets that select only the pods of their program', () => {
    const objects = rendered(least);
    const labels = programsIn(least).map((object) => object.spec.template.metadata.labels);
    const selects = (selector: Record<string, string>) =>
      labels.map((of) => Object.entries(selector).every(([name, value]) => of[name] === value));
    for (const { kind, metadata, spec } of objects) {
      const selector = kind === 'Service' ? spec.selector : spec.selector.matchLabels;
      const isRelay = metadata.name === 'waxwing-relay';
      expect(selects(selector), `${kind} ${metadata.name}`).toEqual([isRelay, !isRelay]);
    }
  });

  it.each([
    ['image.repository', merged(least, { image: { repository: '' } })],
    ['server.realmUrl', merged(least, { server: { realmUrl: '' } })],
    ['server.uploads.existingClaim', merged(least, { server: { uploads: { bucket: '' } } })],
  ])('fails with the name of the missing value %s', (name, values) => {
    expect(() => rendered(values)).toThrow(name);
  });

  it.each([
    ['an unknown value', { relay: { replica: 1 } }],
    ['a setting of another program', { relay: { settings: { SERVER_PORT: '1' } } }],
    ['a drain time over a minute', { server: { drainSeconds: 61 } }],
    ['a truncated digest', { image: { digest: 'sha256:ab' } }],
    ['no image', { image: { repository: '' } }],
  ])('rejects %s by its schema', (_, values) => {
    expect(allows(merged(defaultValues, merged(least, values)))).toBe(false);
  });
});
