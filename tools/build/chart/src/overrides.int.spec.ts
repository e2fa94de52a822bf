import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describeWith } from '@gateway/dev-infra';
import { componentOf, ofKind, workloads } from './objects';
import { helm, render, VALUES, type KubernetesObject, type Values } from './render';

const SHARED = {
  nodeSelector: { disk: 'ssd' },
  tolerations: [{ key: 'shared', operator: 'Exists' }],
  affinity: { podAntiAffinity: {} },
  topologySpreadConstraints: [{ maxSkew: 2, topologyKey: 'rack', whenUnsatisfiable: 'DoNotSchedule' }],
};
const OWN = {
  nodeSelector: { disk: 'fast' },
  tolerations: [{ key: 'own', operator: 'Exists' }],
  affinity: { nodeAffinity: {} },
  topologySpreadConstraints: [{ maxSkew: 3, topologyKey: 'row', whenUnsatisfiable: 'DoNotSchedule' }],
};

function renderWith(values: Values, own: object): KubernetesObject[] {
  const file = path.join(mkdtempSync(path.join(tmpdir(), 'gateway-chart-')), 'values.yaml');
  writeFileSync(file, JSON.stringify(own));
  return render(values, '--values', file);
}

interface Pod {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly spec: KubernetesObject['spec'];
}

const podsOf = (objects: readonly KubernetesObject[]): Pod[] =>
  objects.flatMap(({ kind, metadata, spec }) => {
    const template = kind === 'CronJob' ? spec.jobTemplate.spec.template : spec?.template;
    if (kind === 'Pod') return [{ name: metadata.name, labels: metadata.labels, spec }];
    return template ? [{ name: metadata.name, labels: template.metadata.labels, spec: template.spec }] : [];
  });

describeWith(helm, 'what an operator can change of the chart', () => {
  it('places the pods of all services, and those of one on their own', () => {
    const objects = renderWith('least', { pod: SHARED, edgeProxy: OWN });
    for (const workload of workloads(objects))
      expect(workload.spec.template.spec).toMatchObject(
        componentOf(workload) === 'edge-proxy' ? OWN : SHARED,
      );
    const ownAffinity = { nodeAffinity: {}, podAntiAffinity: expect.anything() };
    for (const { spec } of workloads(renderWith('least', { pod: { affinity: { nodeAffinity: {} } } })))
      expect(spec.template.spec.affinity).toEqual(ownAffinity);
    for (const { spec } of workloads(renderWith('least', { pod: { affinity: SHARED.affinity } })))
      expect(spec.template.spec.affinity).toEqual(SHARED.affinity);
    const [migration] = ofKind(renderWith('least', { auth: OWN }), 'Job').filter((each) =>
      /auth-migrate$/.test(each.metadata.name),
    );
    const { nodeSelector, tolerations } = migration?.spec.template.spec ?? {};
    expect({ nodeSelector, tolerations }).toEqual({
      nodeSelector: OWN.nodeSelector,
      tolerations: OWN.tolerations,
    });
  });

  it('leaves the user to the cluster in every pod, and changes the context of every container', () => {
    const chosen = { runAsUser: null, runAsGroup: null, fsGroup: null };
    const pod = { securityContext: chosen, containerSecurityContext: { privileged: false } };
    const pods = podsOf(renderWith('demo', { pod }));
    expect(pods.length).toBeGreaterThan(13);
    for (const { name, spec } of pods) {
      expect([name, Object.keys(spec.securityContext).sort()]).toEqual([
        name,
        ['fsGroupChangePolicy', 'runAsNonRoot', 'seccompProfile'],
      ]);
      for (const { securityContext } of spec.containers)
        expect(securityContext).toMatchObject({ privileged: false, capabilities: { drop: ['ALL'] } });
    }
  });

  it('describes the load balancers of both public services', () => {
    const own = {
      serviceType: 'LoadBalancer',
      serviceAnnotations: { 'example.com/scheme': 'internal' },
      loadBalancerClass: 'example.com/nlb',
      loadBalancerSourceRanges: ['10.0.0.0/8'],
      externalTrafficPolicy: 'Local',
    };
    const services = ofKind(renderWith('least', { edgeProxy: own, dashboardApi: own }), 'Service');
    const open = services.filter(({ spec }) => spec.type === 'LoadBalancer');
    expect(open.map(componentOf).sort()).toEqual(['dashboard-api', 'edge-proxy']);
    const { serviceType, serviceAnnotations, ...spec } = own;
    for (const service of open) {
      expect(service.spec).toMatchObject({ type: serviceType, ...spec });
      expect(service.metadata.annotations).toEqual(serviceAnnotations);
    }
    // Kubernetes refuses them for other types.
    const closed = ofKind(
      renderWith('least', { edgeProxy: { ...own, serviceType: 'ClusterIP' } }),
      'Service',
    );
    for (const service of closed)
      expect(Object.keys(service.spec)).not.toEqual(expect.arrayContaining(['loadBalancerClass']));
  });

  it('renames everything, and adds labels to every object and pod', () => {
    const values = { fullnameOverride: 'ai', nameOverride: 'gateway', commonLabels: { team: 'models' } };
    const objects = renderWith('demo', values);
    for (const { kind, metadata } of objects) {
      expect([kind, metadata.name]).toEqual([kind, expect.stringMatching(/^ai-/)]);
      expect([metadata.name, metadata.labels]).toEqual([
        metadata.name,
        expect.objectContaining({ team: 'models', 'app.kubernetes.io/name': 'gateway' }),
      ]);
    }
    for (const { labels } of podsOf(objects)) expect(labels).toMatchObject({ team: 'models' });
    for (const workload of workloads(objects)) {
      const { matchLabels } = workload.spec.selector;
      expect(matchLabels).not.toHaveProperty('team');
      expect(workload.spec.template.metadata.labels).toMatchObject(matchLabels);
    }
  });

  it('runs a service and its migration with an existing service account', () => {
    const objects = renderWith('least', { auth: { serviceAccountName: 'of-platform' } });
    const using = podsOf(objects).filter(({ spec }) => spec.serviceAccountName === 'of-platform');
    expect(using.map(({ name }) => name).sort()).toEqual([
      'gw-inference-gateway-auth',
      'gw-inference-gateway-auth-migrate',
    ]);
    expect(ofKind(objects, 'ServiceAccount').map(componentOf)).not.toContain('auth');
  });

  it('installs further objects, whose templates see the release', () => {
    const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: '{{ .Release.Name }}-more' } };
    const found = renderWith('least', { extraObjects: [object] }).filter(({ metadata }) =>
      metadata.name.endsWith('-more'),
    );
    expect(found.map(({ metadata }) => metadata.name)).toEqual(['gw-more']);
  });

  it.each(VALUES)('has no version in the labels of pods, with the values "%s"', (values) => {
    const pods = podsOf(render(values)).filter(({ name }) => !name.endsWith('-test'));
    for (const { name, labels } of pods) {
      const versions = Object.keys(labels).filter((label) => /version|chart|managed-by/.test(label));
      expect([name, versions]).toEqual([name, []]);
    }
  });
});
