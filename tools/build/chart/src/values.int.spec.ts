import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describeWith } from '@gateway/dev-infra';
import { componentOf, ofKind, workloads } from './objects';
import { helm, objectsIn, render, renderRelease, renderText, type KubernetesObject } from './render';

interface Variable {
  readonly name: string;
  readonly value?: string;
}

/** @returns the arguments of Helm for these values, read from a file. */
function fromFile(values: object): string[] {
  const file = path.join(mkdtempSync(path.join(tmpdir(), 'gateway-chart-')), 'values.yaml');
  writeFileSync(file, JSON.stringify(values));
  return ['--values', file];
}

describeWith(helm, 'values of the chart', () => {
  it.each(['least', 'demo'] as const)(
    'names objects as Kubernetes accepts, with the values "%s"',
    (values) => {
      // The longest name of a release.
      const objects = objectsIn(renderRelease('r'.repeat(53), values));
      // Kubernetes appends 11 characters to the name of a StatefulSet or CronJob and uses the result as a label or name.
      const longest: Record<string, number> = { StatefulSet: 52, CronJob: 52, Job: 63, Service: 63 };
      const tooLong = objects.filter(({ kind, metadata }) => metadata.name.length > (longest[kind] ?? 253));
      expect(tooLong.map(({ kind, metadata }) => [kind, metadata.name])).toEqual([]);
    },
  );

  it('lets KEDA trust the authority of the brokers as the services do', () => {
    const tls = ['--set', 'kafka.tlsSecret=,kafka.settings.KAFKA_SASL_MECHANISM='];
    const authorities = (objects: readonly KubernetesObject[]) =>
      ofKind(objects, 'TriggerAuthentication').map(({ spec }) => spec);
    const inSecret = { secretTargetRef: [{ parameter: 'ca', name: 'authority', key: 'bundle.pem' }] };
    expect(authorities(render('everything', ...tls))).toEqual([inSecret, inSecret]);
    const inConfigMap = { configMapTargetRef: [{ parameter: 'ca', name: 'authorities', key: 'bundle.pem' }] };
    const configMap = ['--set', 'caBundle.secret=,caBundle.configMap=authorities'];
    expect(authorities(render('everything', ...tls, ...configMap))).toEqual([inConfigMap, inConfigMap]);
    expect(authorities(render('everything', ...tls, '--set', 'kafka.settings.KAFKA_TLS=false'))).toEqual([]);
  });

  it('writes large numbers of a values file in full', () => {
    const own = {
      edgeProxy: { settings: { GATEWAY_MAX_BODY_BYTES: 67_108_864 } },
      auth: { settings: { GATEWAY_OIDC_CLIENT_ID: 123_456_789_012 } },
      keda: { eventsPerReplica: 1_000_000 },
    };
    const objects = render('everything', ...fromFile(own));
    const variables = workloads(objects).flatMap(
      ({ spec }) => spec.template.spec.containers[0].env as Variable[],
    );
    const valueOf = (name: string) => variables.find((variable) => variable.name === name)?.value;
    expect(valueOf('GATEWAY_MAX_BODY_BYTES')).toBe('67108864');
    expect(valueOf('GATEWAY_OIDC_CLIENT_ID')).toBe('123456789012');
    for (const { spec } of ofKind(objects, 'ScaledObject'))
      expect(spec.triggers[1].metadata.lagThreshold).toBe('1000000');
  });

  it('lets the certificates job reach the Kubernetes API of common distributions, and only DNS beyond that', () => {
    const policy = ofKind(render('least'), 'NetworkPolicy').find(
      (each) => componentOf(each) === 'certificates',
    );
    const ports = (policy?.spec.egress as { ports: { port: number }[] }[]).flatMap((rule) => rule.ports);
    // The Service; kubeadm, kind and k3s; minikube; MicroK8s.
    expect(ports.map(({ port }) => port)).toEqual([53, 53, 5353, 5353, 443, 6443, 8443, 16443]);
  });

  it('lets a longer generation finish, in pods that stop and through both kinds of routes', () => {
    const set = ['--set', 'edgeProxy.settings.GATEWAY_GENERATION_TIMEOUT_MS=1800000'];
    const objects = render('everything', ...set);
    for (const { metadata, spec } of workloads(objects)) {
      if (!/-(edge-proxy|inference-router)$/.test(metadata.name)) continue;
      const variables: Variable[] = spec.template.spec.containers[0].env;
      const graceMs = Number(variables.find(({ name }) => name === 'GATEWAY_SHUTDOWN_GRACE_MS')?.value);
      expect(graceMs).toBeGreaterThan(1_815_000);
      expect(spec.template.spec.terminationGracePeriodSeconds).toBeGreaterThan(graceMs / 1_000 + 10);
    }
    const [ingress] = ofKind(objects, 'Ingress');
    for (const side of ['read', 'send'])
      expect(ingress?.metadata.annotations?.[`nginx.ingress.kubernetes.io/proxy-${side}-timeout`]).toBe(
        '1900',
      );
    for (const { spec } of ofKind(objects, 'HTTPRoute'))
      expect(spec.rules[0].timeouts).toEqual({ request: '1900s', backendRequest: '1900s' });
  });

  it('lets annotations of the Ingress and labels of the routers replace others, once each', () => {
    const timeout = 'nginx.ingress.kubernetes.io/proxy-read-timeout';
    const more = {
      ingress: { annotations: { [timeout]: '1900' } },
      inferenceRouter: { podLabels: { team: 'models' } },
    };
    // The parser refuses a repeated key.
    const objects = render('everything', ...fromFile(more));
    const [ingress] = ofKind(objects, 'Ingress');
    expect(ingress?.metadata.annotations).toMatchObject({ a: 'b', [timeout]: '1900' });
    const router = workloads(objects).find((each) => componentOf(each) === 'inference-router');
    expect(router?.spec.template.metadata.labels.team).toBe('models');
  });

  it('has no delay before SIGTERM with `preStopSeconds: 0`, which Kubernetes refuses, where no one calls by DNS', () => {
    for (const values of ['least', 'demo'] as const) {
      const set = ['--set', 'pod.preStopSeconds=0'];
      const delayed = ofKind(render(values, ...set), 'Deployment', 'StatefulSet').filter(
        ({ spec }) => spec.template.spec.containers[0].lifecycle?.preStop,
      );
      const headless = ofKind(render(values, ...set), 'Service').filter(
        ({ spec }) => spec.clusterIP === 'None',
      );
      expect(delayed.map(componentOf).sort()).toEqual(headless.map(componentOf).sort());
    }
  });

  it('installs dashboards without a label', () => {
    const unset = ['--set', 'metrics.dashboards.labels.grafana_dashboard=null'];
    expect(renderText('everything', ...unset)).not.toContain('grafana_dashboard');
  });
});
