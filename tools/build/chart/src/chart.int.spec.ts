import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { SERVICE_NAMES } from '@gateway/cluster';
import { describeWith } from '@gateway/dev-infra';
import { TOPIC_GENERATION_FINISHED, TOPIC_GENERATION_SETTLED } from '@gateway/events';
import { groupIdOf } from '@gateway/events/kafka';
import { documentedSettings } from '@gateway/test-support';
import { parse } from 'yaml';
import { immutableFields } from './immutable-fields';
import { componentOf, isOfService, ofKind, workloads } from './objects';
import {
  chartFolder,
  helm,
  kubeconform,
  lint,
  render,
  renderNotes,
  renderText,
  validate,
  VALUES,
  type KubernetesObject,
  type Values,
} from './render';

/** Names of settings that are secret. */
const SECRETS = /(_URL|_SECRET|_PASSWORD|_USERNAME|SECRETS_KEY|_OTLP_HEADERS)$/;
/** Read by Node itself. */
const OF_NODE = 'NODE_EXTRA_CA_CERTS';
const NO_SECRETS = ['GATEWAY_PUBLIC_URL', 'MODEL_EMULATOR_URL'];

interface Variable {
  readonly name: string;
  readonly value?: string;
  readonly valueFrom?: { readonly secretKeyRef: { readonly name: string; readonly optional: boolean } };
}

const podSpecs = (objects: readonly KubernetesObject[]) =>
  objects.flatMap((object) =>
    object.kind === 'Pod'
      ? [{ name: object.metadata.name, spec: object.spec }]
      : object.spec?.template?.spec?.containers
        ? [{ name: object.metadata.name, spec: object.spec.template.spec }]
        : [],
  );

describeWith(helm, 'the chart', () => {
  const rendered = new Map<Values, KubernetesObject[]>();
  beforeAll(() => VALUES.forEach((values) => rendered.set(values, render(values))));
  const objectsOf = (values: Values): KubernetesObject[] => rendered.get(values) ?? [];

  it('has a README that lists the secrets of every service', () => {
    const readme = readFileSync(path.join(chartFolder, 'README.md'), 'utf8');
    const entries = readme.matchAll(/^- `(\w+)\.existingSecret`: required ((?:.|\n  )+)/gm);
    const documented = [...entries].map(([, values = '', text = '']) => {
      const [required = '', optional = ''] = text.split('; optional ');
      const names = (part: string) => [...part.matchAll(/`(\w+)`/g)].map(([, name]) => name).sort();
      return [values, names(required), names(optional)] as const;
    });
    const read = workloads(objectsOf('production')).flatMap((workload) => {
      const variables: Variable[] = workload.spec.template.spec.containers[0].env;
      const secrets = variables.flatMap(({ name, valueFrom }) =>
        valueFrom ? { name, isOptional: valueFrom.secretKeyRef.optional } : [],
      );
      if (secrets.length === 0) return [];
      const names = (isOptional: boolean) =>
        secrets
          .filter((each) => each.isOptional === isOptional)
          .map(({ name }) => name)
          .sort();
      const values = componentOf(workload).replace(/-(.)/g, (_, initial: string) => initial.toUpperCase());
      return [[values, names(false), names(true)] as const];
    });
    expect([...documented].sort()).toEqual([...read].sort());
  });

  it('has a README whose values install it, and that creates the secrets which they name', () => {
    const readme = readFileSync(path.join(chartFolder, 'README.md'), 'utf8');
    const [, values = ''] = /```yaml\n(.*?)```/s.exec(readme) ?? [];
    const text = JSON.stringify(parse(values));
    const named = [...text.matchAll(/"(?:existingSecret|providerKeysSecret)":"([\w-]+)"/g)].map(
      ([, name]) => name,
    );
    const created = [...readme.matchAll(/create secret generic ([\w-]+)/g)].map(([, name]) => name);
    expect([...new Set(named)].sort()).toEqual(created.sort());
    const file = path.join(mkdtempSync(path.join(tmpdir(), 'gateway-chart-')), 'values.yaml');
    writeFileSync(file, values);
    expect(renderText('least', '--values', file)).toContain(
      'registry.example.com/inference-gateway/edge-proxy',
    );
  });

  it('has a schema and a reference of values that are generated from values.yaml', () => {
    const script = path.resolve(__dirname, '../../../commands/chart.mjs');
    expect(execFileSync(process.execPath, [script, '--check'], { encoding: 'utf8' })).toBe('');
  });

  it.each([
    ['kafka.brokers=', /kafka\.brokers is required/],
    ['auth.existingSecret=', /auth\.existingSecret is required: a secret with DATABASE_URL/],
    ['rateLimit.existingSecret=', /rateLimit\.existingSecret is required: a secret with REDIS_URL/],
    ['models.existingConfigMap=', /models\.file is required/],
    ['edgeProxy.settings.NO_SUCH=1', /Additional property NO_SUCH is not allowed/],
    ['settings.GATEWAY_CORS_ORIGINS=*', /Additional property GATEWAY_CORS_ORIGINS is not allowed/],
    ['kafka.settings.LOG_LEVEL=debug', /Additional property LOG_LEVEL is not allowed/],
    ['auth.settings.DATABASE_URL=postgres://u:p@h/d', /Additional property DATABASE_URL is not allowed/],
    ['edgeProxy.replicas=two', /edgeProxy\.replicas: Invalid type/],
    ['edgeProxy.replicas=12,edgeProxy.autoscaling.enabled=true', /edgeProxy\.replicas is more than/],
    ['auth.autoscaling.targetCpuPercent=0', /targetCpuPercent: Must be greater than or equal to 1/],
    ['auth.autoscaling.maxReplicas=0', /maxReplicas: Must be greater than or equal to 1/],
    ['auth.resources.limit.memory=1Gi', /Additional property limit is not allowed/],
    ['kafka.brokers=kafka', /kafka\.brokers: Does not match pattern/],
    ['kafka.brokers=kafka:9092\\,other', /kafka\.brokers: Does not match pattern/],
    ['public.apiUrl=api.example.com/v1', /public\.apiUrl: Does not match pattern/],
    ['public.dashboardUrl=admin.example.com', /public\.dashboardUrl: Does not match pattern/],
    ['telemetry.endpoint=collector:4318', /telemetry\.endpoint: Does not match pattern/],
    ['metrics.rules.documentationUrl=docs', /documentationUrl: Does not match pattern/],
    ['image.digests.edge=sha256:0', /image\.digests: Property name of "edge" does not match/],
    ['settings.LOG_LEVEL=verbose', /settings\.LOG_LEVEL: .* must be one of the following/],
    ['auth.settings.LOG_LEVEL=verbose', /auth\.settings\.LOG_LEVEL: .* must be one of the following/],
    ['kafka.settings.KAFKA_TLS=yes', /KAFKA_TLS: .* must be one of the following/],
    ['edgeProxy.settings.GATEWAY_GENERATION_TIMEOUT_MS=abc', /TIMEOUT_MS: Does not match pattern/],
    ['models.existingConfigMap=,models.file=providers: [', /models\.file is not valid YAML/],
  ])('rejects %s with the reason', (value, message) => {
    expect(() => render('least', '--set', value)).toThrow(message);
  });

  it('needs no models file for a catalogue in the database', () => {
    const set = ['models.existingConfigMap=', 'inferenceRouter.settings.GATEWAY_CATALOGUE=database'];
    const rendered = renderText('least', ...set.flatMap((value) => ['--set', value]));
    expect(rendered).not.toContain('models.yaml: |');
    expect(rendered).toMatch(/configMap: \{ name: \S+-models, optional: true \}/);
  });

  describe.each(VALUES)('with the values "%s"', (values) => {
    it('passes helm lint', () => {
      const { status, output } = lint(values);
      expect([status, output]).toEqual([0, expect.stringContaining('0 chart(s) failed')]);
    });

    it('runs every service once, with one selector', () => {
      const objects = objectsOf(values);
      expect(workloads(objects).map(componentOf).sort()).toEqual([...SERVICE_NAMES].sort());
      for (const workload of workloads(objects)) {
        const { matchLabels } = workload.spec.selector;
        expect(workload.spec.template.metadata.labels).toMatchObject(matchLabels);
        const named = ofKind(objects, 'Service', 'NetworkPolicy', 'PodDisruptionBudget').filter(
          (each) => componentOf(each) === componentOf(workload),
        );
        for (const { kind, spec } of named) {
          const selector =
            kind === 'Service' ? spec.selector : (spec.podSelector ?? spec.selector).matchLabels;
          expect(selector).toEqual(matchLabels);
        }
        expect(ofKind(objects, 'ServiceAccount').map(({ metadata }) => metadata.name)).toContain(
          workload.spec.template.spec.serviceAccountName,
        );
      }
    });

    it.each(SERVICE_NAMES)('sets the required settings of %s, and none that it does not read', (service) => {
      const workload = workloads(objectsOf(values)).find((each) => componentOf(each) === service);
      const variables: Variable[] = workload?.spec.template.spec.containers[0].env;
      const documented = documentedSettings(service);
      const names = variables.map(({ name }) => name);
      expect(new Set(names).size).toBe(names.length);
      for (const name of names) if (name !== OF_NODE) expect([...documented]).toContain(name);
      const needed = [...documented].filter((name) =>
        /_TARGET$|^DATABASE_URL$|^REDIS_URL$|^KAFKA_BROKERS$|^GATEWAY_STATE_DIR$|^GATEWAY_SECRETS_KEY$/.test(
          name,
        ),
      );
      for (const name of needed) expect(names).toContain(name);
    });

    it('contains no secret values: each comes from an existing secret', () => {
      const objects = objectsOf(values);
      const filled = ofKind(objects, 'Secret').filter(({ data, stringData }) => data ?? stringData);
      if (values !== 'demo') expect(filled).toEqual([]);
      for (const { spec } of podSpecs(objects)) {
        for (const { env = [] } of spec.containers as { env?: Variable[] }[]) {
          for (const { name, value, valueFrom } of env) {
            if (!SECRETS.test(name) || NO_SECRETS.includes(name)) continue;
            expect([name, value]).toEqual([name, undefined]);
            expect(valueFrom?.secretKeyRef.name).toMatch(/./);
          }
        }
      }
    });

    it('runs every container unprivileged', () => {
      const pods = podSpecs(objectsOf(values));
      expect(pods.length).toBeGreaterThan(SERVICE_NAMES.length);
      for (const { name, spec } of pods) {
        expect(spec).toMatchObject({
          // The job writes certificates into secrets.
          automountServiceAccountToken: name.includes('-certificates'),
          securityContext: {
            runAsNonRoot: true,
            runAsUser: expect.any(Number),
            seccompProfile: { type: 'RuntimeDefault' },
          },
        });
        for (const container of spec.containers) {
          expect(container).toMatchObject({
            securityContext: {
              allowPrivilegeEscalation: false,
              // The Kafka image writes its configuration into its program folder.
              ...(container.name !== 'kafka' && { readOnlyRootFilesystem: true }),
              capabilities: { drop: ['ALL'] },
            },
            resources: {
              requests: { cpu: expect.anything(), memory: expect.anything() },
              limits: { memory: expect.anything() },
            },
          });
        }
      }
    });

    it('gives running requests time to finish, and load balancers time to stop sending new ones', () => {
      for (const workload of workloads(objectsOf(values))) {
        const { containers, terminationGracePeriodSeconds } = workload.spec.template.spec;
        const [{ env, lifecycle }] = containers;
        const graceMs = (env as Variable[]).find(({ name }) => name === 'GATEWAY_SHUTDOWN_GRACE_MS')?.value;
        const waitS: number = lifecycle.preStop.sleep.seconds;
        expect(terminationGracePeriodSeconds).toBeGreaterThan(Number(graceMs) / 1_000 + waitS);
        // The longest generation (600 s) and the margin of its call (15 s).
        if (['edge-proxy', 'inference-router'].includes(componentOf(workload)))
          expect(Number(graceMs)).toBeGreaterThan(615_000);
        // Others stop within 20 seconds of SIGTERM.
        else expect(terminationGracePeriodSeconds - waitS).toBeLessThanOrEqual(20);
      }
    });

    it('allows exactly the calls that each service makes', () => {
      const policies = ofKind(objectsOf(values), 'NetworkPolicy');
      const policyOf = (service: string) => policies.find((each) => componentOf(each) === service)?.spec;
      const peersOf = (rules: readonly Record<string, unknown>[], side: 'from' | 'to'): string[] =>
        rules.flatMap((rule) =>
          ((rule[side] ?? []) as { podSelector?: { matchLabels?: Record<string, string> } }[]).flatMap(
            ({ podSelector }) => podSelector?.matchLabels?.['app.kubernetes.io/component'] ?? [],
          ),
        );
      const called = new Map<string, string[]>(
        SERVICE_NAMES.map((caller) => [
          caller,
          SERVICE_NAMES.filter((each) =>
            documentedSettings(caller).has(`GATEWAY_${each.toUpperCase().replaceAll('-', '_')}_TARGET`),
          ),
        ]),
      );
      const ofServices = (names: readonly string[]) =>
        names.filter((each) => (SERVICE_NAMES as readonly string[]).includes(each)).sort();
      for (const service of SERVICE_NAMES) {
        const callers = SERVICE_NAMES.filter((each) => called.get(each)?.includes(service));
        expect([service, ofServices(peersOf(policyOf(service).ingress, 'from'))]).toEqual([
          service,
          callers.sort(),
        ]);
        expect([service, ofServices(peersOf(policyOf(service).egress, 'to'))]).toEqual([
          service,
          [...(called.get(service) ?? [])].sort(),
        ]);
      }
      // A service without datastores and external calls may reach nothing outside the chart.
      expect(policyOf('edge-proxy').egress.filter((rule: object) => Object.keys(rule).length === 0)).toEqual(
        [],
      );
    });
  });

  it.each(['least', 'everything', 'demo'] as const)(
    'can be upgraded from the previous version, with the values "%s"',
    (values) => {
      const before = parse(readFileSync(path.join(__dirname, 'immutable-fields.yaml'), 'utf8')) as Record<
        Values,
        unknown
      >;
      expect(immutableFields(objectsOf(values))).toEqual(before[values]);
    },
  );

  describe('volumes and authorities of the operator', () => {
    /** The services and the jobs that migrate their databases. */
    const servicePods = (objects: readonly KubernetesObject[]) =>
      [
        ...workloads(objects),
        ...ofKind(objects, 'Job').filter(({ metadata }) => /-migrate$/.test(metadata.name)),
      ].map(({ metadata, spec }) => {
        const [container] = spec.template.spec.containers;
        const volumes: { name: string }[] = spec.template.spec.volumes;
        const mounts: { name: string; mountPath: string }[] = container.volumeMounts;
        return {
          name: metadata.name,
          bundle: (container.env as Variable[]).find(({ name }) => name === OF_NODE)?.value,
          volumes: new Map(volumes.map((volume) => [volume.name, volume])),
          mounts: new Map(mounts.map((mount) => [mount.name, mount])),
        };
      });

    it('give every service and migration the bundle of `caBundle`, whatever its key is', () => {
      const pods = servicePods(objectsOf('everything'));
      expect(pods.length).toBe(SERVICE_NAMES.length + 4);
      for (const { bundle, volumes, mounts } of pods) {
        expect(volumes.get('ca-bundle')).toEqual({
          name: 'ca-bundle',
          secret: { secretName: 'authority', items: [{ key: 'bundle.pem', path: 'ca.crt' }] },
        });
        expect(mounts.get('ca-bundle')).toMatchObject({ readOnly: true });
        expect(bundle).toBe(`${mounts.get('ca-bundle')?.mountPath}/ca.crt`);
      }
    });

    it('take the bundle from a ConfigMap too, but not from both', () => {
      const set = ['--set', 'caBundle.configMap=authorities'];
      for (const { bundle, volumes } of servicePods(render('least', ...set))) {
        expect(volumes.get('ca-bundle')).toEqual({
          name: 'ca-bundle',
          configMap: { name: 'authorities', items: [{ key: 'ca.crt', path: 'ca.crt' }] },
        });
        expect(bundle).toBe('/etc/gateway/ca-bundle/ca.crt');
      }
      expect(() => render('everything', ...set)).toThrow(/caBundle.configMap and caBundle.secret exclude/);
    });

    it('add the volumes of all services to each, and those of one service to its own pods only', () => {
      const pods = servicePods(objectsOf('everything'));
      for (const { volumes, mounts } of pods) {
        expect(volumes.get('kafka-client')).toMatchObject({ secret: { secretName: 'kafka-client' } });
        expect(mounts.get('kafka-client')?.mountPath).toBe('/etc/gateway/kafka-client');
      }
      const having = (part: 'volumes' | 'mounts') =>
        pods
          .filter((pod) => pod[part].has('own'))
          .map(({ name }) => name.replace('gw-inference-gateway-', ''));
      expect(having('volumes')).toEqual(['billing-ledger', 'billing-ledger-migrate']);
      expect(having('mounts')).toEqual(having('volumes'));
    });

    it('are absent without a value', () => {
      for (const { bundle, volumes } of servicePods(objectsOf('least')))
        expect([bundle, volumes.has('ca-bundle')]).toEqual([undefined, false]);
    });
  });

  it('gives the role of a cloud to the pods of the router only', () => {
    const objects = objectsOf('everything');
    const annotated = ofKind(objects, 'ServiceAccount').filter(({ metadata }) => metadata.annotations);
    expect(annotated.map(({ metadata }) => [metadata.name, metadata.annotations])).toEqual([
      [
        'gw-inference-gateway-inference-router',
        { 'iam.gke.io/gcp-service-account': 'router@project.iam.gserviceaccount.com' },
      ],
    ]);
    const labelled = workloads(objects).filter(
      ({ spec }) => spec.template.metadata.labels['azure.workload.identity/use'] === 'true',
    );
    expect(labelled.map(componentOf)).toEqual(['inference-router']);
  });

  it('delays SIGTERM by a command of the image on Kubernetes before 1.30', () => {
    const edge = workloads(render('least', '--kube-version', '1.29.0')).find(
      (each) => componentOf(each) === 'edge-proxy',
    );
    const { lifecycle } = edge?.spec.template.spec.containers[0];
    expect(lifecycle.preStop).toEqual({
      exec: { command: ['node', '-e', 'setTimeout(() => {}, 10e3)'] },
    });
  });

  it('retains the spool of a router when its StatefulSet is deleted or scaled down', () => {
    const router = workloads(objectsOf('least')).find((each) => componentOf(each) === 'inference-router');
    expect(router?.spec.persistentVolumeClaimRetentionPolicy).toEqual({
      whenDeleted: 'Retain',
      whenScaled: 'Retain',
    });
  });

  it('mounts the certificates for Kafka where they are read, and nowhere else', () => {
    const mounting = workloads(objectsOf('everything')).filter(({ spec }) =>
      spec.template.spec.volumes.some(
        ({ secret }: { secret?: { secretName: string } }) => secret?.secretName === 'gateway-kafka-tls',
      ),
    );
    expect(mounting.map(componentOf).sort()).toEqual([
      'billing-ledger',
      'inference-router',
      'usage-aggregator',
    ]);
    for (const { spec } of mounting) {
      const [{ env, volumeMounts }] = spec.template.spec.containers;
      const { mountPath } = volumeMounts.find(({ name }: { name: string }) => name === 'kafka-tls');
      expect(env).toContainEqual({ name: 'KAFKA_TLS', value: 'true' });
      expect(env).toContainEqual({ name: 'KAFKA_TLS_DIR', value: mountPath });
    }
  });

  it('scales consumers by their lag with KEDA', () => {
    const objects = objectsOf('everything');
    const consumed = {
      'billing-ledger': TOPIC_GENERATION_FINISHED,
      'usage-aggregator': TOPIC_GENERATION_SETTLED,
    };
    const scaled = ofKind(objects, 'ScaledObject');
    expect(scaled.map(componentOf).sort()).toEqual(Object.keys(consumed));
    for (const [component, topic] of Object.entries(consumed)) {
      const object = scaled.find((each) => componentOf(each) === component);
      const [, kafka] = object?.spec.triggers as { metadata: object; authenticationRef: { name: string } }[];
      expect(kafka?.metadata).toMatchObject({
        bootstrapServers: 'kafka-0:9093,kafka-1:9093',
        topic,
        consumerGroup: groupIdOf({ topic, group: component }),
        lagThreshold: '500',
        tls: 'enable',
        sasl: 'scram_sha512',
      });
      const login = ofKind(objects, 'TriggerAuthentication').find(
        ({ metadata }) => metadata.name === kafka?.authenticationRef.name,
      );
      expect(login?.spec.secretTargetRef.map(({ key }: { key: string }) => key)).toEqual([
        'KAFKA_USERNAME',
        'KAFKA_PASSWORD',
        'ca.crt',
        'tls.crt',
        'tls.key',
      ]);
      // Two autoscalers of one workload would undo each other's changes.
      expect(
        ofKind(objects, 'HorizontalPodAutoscaler').filter((each) => componentOf(each) === component),
      ).toEqual([]);
    }
    expect(ofKind(objectsOf('production'), 'ScaledObject')).toEqual([]);
  });

  it('scales by the SASL mechanism that the settings of a service name', () => {
    const setting = 'usageAggregator.settings.KAFKA_SASL_MECHANISM=plain';
    const mechanisms = ofKind(render('everything', '--set', setting), 'ScaledObject').map(
      (object) => [componentOf(object), object.spec.triggers[1].metadata.sasl] as const,
    );
    expect(Object.fromEntries(mechanisms)).toEqual({
      'billing-ledger': 'scram_sha512',
      'usage-aggregator': 'plaintext',
    });
  });

  describe('the demo', () => {
    it('installs each datastore, a provider and a sign-in, reachable by their clients only', () => {
      const policies = ofKind(objectsOf('demo'), 'NetworkPolicy').filter((each) => !isOfService(each));
      const callersOf = ({ spec }: KubernetesObject) =>
        (spec.ingress as { from: { podSelector: { matchLabels: Record<string, string> } }[] }[])
          .flatMap(({ from }) => from)
          .map(({ podSelector }) => podSelector.matchLabels['app.kubernetes.io/component'])
          .sort();
      const callers = Object.fromEntries(policies.map((each) => [componentOf(each), callersOf(each)]));
      expect(callers).toEqual({
        postgres: [
          ...['auth', 'auth-migrate', 'billing-ledger', 'billing-ledger-migrate', 'generation-query'],
          ...['inference-router', 'inference-router-migrate', 'usage-aggregator', 'usage-aggregator-migrate'],
        ],
        redis: ['rate-limit'],
        kafka: ['billing-ledger', 'inference-router', 'usage-aggregator'],
        'model-emulator': ['inference-router'],
        demo: [],
        certificates: [],
        test: [],
        ...Object.fromEntries(
          ['auth', 'billing-ledger', 'inference-router', 'usage-aggregator'].map((each) => [
            `${each}-migrate`,
            [],
          ]),
        ),
      });
    });

    it('fits on a node with 2 cores and 4 GiB during an upgrade', () => {
      const MIB = { Mi: 1, Gi: 1024 } as const;
      const sum = { millicores: 0, mebibytes: 0 };
      for (const { spec } of ofKind(objectsOf('demo'), 'Deployment', 'StatefulSet')) {
        const pods = spec.replicas + (spec.strategy?.rollingUpdate.maxSurge ?? 0);
        const { cpu, memory } = spec.template.spec.containers[0].resources.requests;
        expect([cpu, memory]).toEqual([expect.stringMatching(/^\d+m$/), expect.stringMatching(/^\d+[MG]i$/)]);
        sum.millicores += pods * parseInt(cpu, 10);
        sum.mebibytes += pods * parseInt(memory, 10) * MIB[memory.slice(-2) as keyof typeof MIB];
      }
      // The node reserves a part of both.
      expect(sum.millicores).toBeLessThan(1_500);
      expect(sum.mebibytes).toBeLessThan(3_400);
    });

    it('turns JIT compilation off in its database', () => {
      const [postgres] = ofKind(objectsOf('demo'), 'StatefulSet').filter(
        (each) => componentOf(each) === 'postgres',
      );
      expect(postgres?.spec.template.spec.containers[0].args).toContain('jit=off');
    });

    it('replaces the provider without downtime', () => {
      const [emulator] = ofKind(objectsOf('demo'), 'Deployment', 'StatefulSet').filter(
        (each) => componentOf(each) === 'model-emulator',
      );
      expect(emulator?.kind).toBe('Deployment');
      expect(emulator?.spec.strategy.rollingUpdate.maxUnavailable).toBe(0);
      const { containers, terminationGracePeriodSeconds } = emulator?.spec.template.spec ?? {};
      expect(containers[0].lifecycle.preStop).toBeDefined();
      // Longer than the responses to requests that still reach it by a stale address.
      expect(terminationGracePeriodSeconds).toBeGreaterThan(30);
    });

    it('generates different passwords for each installation', () => {
      const passwords = () =>
        ofKind(render('demo'), 'Secret').flatMap(({ stringData = {} }) => Object.values(stringData));
      const [first, second] = [passwords(), passwords()];
      expect(first.length).toBeGreaterThan(10);
      expect(first.filter((value) => second.includes(value))).toEqual([]);
    });

    it('retains the seed of its passwords together with its volumes', () => {
      const retained = objectsOf('demo').filter(
        ({ metadata }) => metadata.annotations?.['helm.sh/resource-policy'] === 'keep',
      );
      expect(
        retained.map(({ kind, metadata, stringData = {} }) => [kind, metadata.name, Object.keys(stringData)]),
      ).toEqual([['Secret', 'gw-inference-gateway-demo', ['seed']]]);
    });

    it('connects to each database with the role and password that were created for it', () => {
      const secrets = new Map(
        ofKind(objectsOf('demo'), 'Secret').map((each) => [each.metadata.name, each.stringData ?? {}]),
      );
      const created = secrets.get('gw-inference-gateway-postgres') ?? {};
      for (const [component, database] of Object.entries({
        auth: 'auth',
        'billing-ledger': 'billing_ledger',
        'usage-aggregator': 'usage',
        'generation-query': 'usage',
        'inference-router': 'inference_router',
      })) {
        const password = created[`${database.toUpperCase()}_DATABASE_PASSWORD`];
        expect(secrets.get(`gw-inference-gateway-${component}-demo`)?.['DATABASE_URL']).toBe(
          `postgres://gateway_${database}:${password}@gw-inference-gateway-postgres:5432/${database}`,
        );
      }
    });
  });

  it('installs each Grafana dashboard with an ID of its own', () => {
    const maps = ofKind(objectsOf('everything'), 'ConfigMap').filter(
      ({ metadata }) => metadata.labels['grafana_dashboard'] === '1',
    );
    const dashboards = maps.map(
      ({ data = {} }) => JSON.parse(Object.values(data)[0] ?? '') as { uid: string },
    );
    expect(dashboards.map(({ uid }) => uid).sort()).toEqual(
      ['money', 'overview', 'services'].map((name) => `inference-gateway-${name}`),
    );
  });

  it('passes the maximum number of replicas to rate-limit', () => {
    const replicasOf = (values: Values): unknown =>
      workloads(objectsOf(values))
        .find((each) => componentOf(each) === 'rate-limit')
        ?.spec.template.spec.containers[0].env.find(
          ({ name }: Variable) => name === 'GATEWAY_RATE_LIMIT_REPLICAS',
        ).value;
    expect([replicasOf('least'), replicasOf('everything')]).toEqual(['2', '6']);
  });

  it('lets every pod reach DNS and the collector, also on other ports of their pods', () => {
    const portsOf = (...more: readonly string[]) =>
      ofKind(render('everything', ...more), 'NetworkPolicy')
        .filter(isOfService)
        .map(({ spec }) =>
          (spec.egress as { ports?: { port: number }[] }[]).flatMap(({ ports = [] }) =>
            ports.map(({ port }) => port),
          ),
        );
    for (const ports of portsOf()) expect(ports).toEqual(expect.arrayContaining([53, 5353, 4318]));
    for (const ports of portsOf('--set', 'networkPolicy.telemetryPort=14318')) {
      expect(ports).toContain(14_318);
      expect(ports).not.toContain(4318);
    }
  });

  it('says after an installation how to reach the servers', () => {
    const through = (route: string, ...more: readonly string[]) =>
      renderNotes(
        'least',
        ...[
          '--set',
          `${route}.enabled=true,${route}.apiHost=api.example.com,${route}.dashboardHost=admin.example.com`,
        ],
        ...more,
      );
    expect(renderNotes('least')).toMatch(
      /port-forward service\/gw-\S+-edge-proxy 8080:80\n {2}curl http:\/\/127.0.0.1:8080\/v1/,
    );
    for (const notes of [
      through('httpRoute', '--set', 'httpRoute.parentRefs[0].name=gateway'),
      through('ingress', '--set', 'ingress.tlsSecret=tls'),
    ]) {
      expect(notes).toContain('\n  curl https://api.example.com/v1/models');
      expect(notes).toContain('\n  https://admin.example.com\n');
      expect(notes).not.toContain('port-forward');
    }
    expect(through('ingress')).toContain('\n  curl http://api.example.com/v1/models');
  });

  it('lets `helm test` reach both servers in addition to the configured clients', () => {
    const objects = objectsOf('production');
    const test = ofKind(objects, 'Pod')[0]?.metadata.labels;
    for (const service of ['edge-proxy', 'dashboard-api']) {
      const policy = ofKind(objects, 'NetworkPolicy').find((each) => componentOf(each) === service);
      const allowed = (policy?.spec.ingress as { from?: { podSelector?: { matchLabels?: object } }[] }[])
        .flatMap(({ from = [] }) => from)
        .flatMap(({ podSelector }) => podSelector?.matchLabels ?? []);
      expect(
        allowed.filter((labels) => Object.entries(labels).every(([name, value]) => test?.[name] === value)),
      ).toHaveLength(1);
    }
  });

  it('migrates every database before an upgrade, by the service that owns it', () => {
    const jobs = ofKind(objectsOf('least'), 'Job').filter((each) => componentOf(each) !== 'certificates');
    expect(jobs.map(componentOf).sort()).toEqual(
      ['auth', 'billing-ledger', 'inference-router', 'usage-aggregator'].map((each) => `${each}-migrate`),
    );
    for (const { metadata, spec } of jobs) {
      expect(metadata.annotations?.['helm.sh/hook']).toBe('pre-upgrade');
      expect(spec.template.spec.containers[0].args).toEqual(['migrate']);
    }
  });

  it('has guides to upgrades in which Helm waits as long for a migration as it may run', () => {
    const jobs = ofKind(objectsOf('least'), 'Job').filter(({ metadata }) => /-migrate$/.test(metadata.name));
    const deadlines = jobs.map(({ spec }) => spec.activeDeadlineSeconds as number);
    for (const guide of ['docs/how-to/upgrade.md', 'helm/inference-gateway/README.md']) {
      const text = readFileSync(path.join(chartFolder, '../..', guide), 'utf8');
      const [, hours] = /^\s*helm upgrade gateway .* --timeout (\d+)h$/m.exec(text) ?? [];
      expect([guide, Number(hours) * 3_600]).toEqual([guide, Math.max(...deadlines)]);
    }
  });
});

describeWith(kubeconform, 'the rendered objects', () => {
  it.each(VALUES)('are valid for Kubernetes, with the values "%s"', (values) => {
    expect(validate(renderText(values))).toBe('');
  });

  it('are rejected with an unknown field', () => {
    const broken = renderText('least').replace('readinessProbe:', 'readynessProbe:');
    expect(validate(broken)).toContain('readynessProbe');
  });

  it.each([
    ['ScaledObject', 'maxReplicaCount:', 'maxReplicasCount:'],
    ['HTTPRoute', 'backendRequest:', 'backendRequests:'],
    ['PodMonitor', 'podMetricsEndpoints:', 'podMetricEndpoints:'],
    ['PrometheusRule', 'expr:', 'expression:'],
    ['Certificate', 'issuerRef:', 'issuer:'],
  ])('are rejected as a %s with a field unknown to its CustomResourceDefinition', (kind, field, other) => {
    const text = renderText('everything');
    expect(text).toContain(field);
    expect(validate(text.replace(field, other))).toContain(kind);
  });
});
