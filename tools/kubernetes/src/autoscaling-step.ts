import { setTimeout as delay } from 'node:timers/promises';
import { stringify } from 'yaml';
import { NODE_ADDRESS } from './node-files';
import type { KubernetesNode } from './node';
import { PREFIX, type Release } from './release';

const PORT = 4_443;
const PATIENCE_MS = 240_000;
const POLL_MS = 3_000;
const NAME = 'metrics-server';
const METADATA = { name: NAME, namespace: 'kube-system' };

/** How the API server reaches metrics: by a service whose only endpoint is the node. */
const OBJECTS = [
  {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: METADATA,
    spec: { ports: [{ name: 'https', port: 443, targetPort: PORT }] },
  },
  {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { ...METADATA, labels: { 'kubernetes.io/service-name': NAME } },
    addressType: 'IPv4',
    ports: [{ name: 'https', port: PORT, protocol: 'TCP' }],
    endpoints: [{ addresses: [NODE_ADDRESS], conditions: { ready: true } }],
  },
  {
    apiVersion: 'apiregistration.k8s.io/v1',
    kind: 'APIService',
    metadata: { name: 'v1beta1.metrics.k8s.io' },
    spec: {
      group: 'metrics.k8s.io',
      version: 'v1beta1',
      service: METADATA,
      insecureSkipTLSVerify: true,
      groupPriorityMinimum: 100,
      versionPriority: 100,
    },
  },
];

/** Lets the autoscaler of the edge work until it has as many replicas as it may. */
export async function untilScaledOut(node: KubernetesNode, release: Release, most: number): Promise<string> {
  await node.apply(OBJECTS.map((each) => stringify(each)).join('---\n'));
  const kubeconfigs = ['--kubeconfig', '--authentication-kubeconfig', '--authorization-kubeconfig'];
  node.start(
    NAME,
    ...kubeconfigs.map((name) => `${name}=${node.kubeconfig}`),
    ...[`--bind-address=${NODE_ADDRESS}`, `--secure-port=${PORT}`, '--cert-dir=/run/metrics-server'],
    ...['--kubelet-insecure-tls', '--kubelet-preferred-address-types=InternalIP', '--metric-resolution=15s'],
  );
  const autoscaling = `edgeProxy.autoscaling.enabled=true,edgeProxy.autoscaling.maxReplicas=${most}`;
  await release.upgrade('--set', autoscaling);
  const deadline = Date.now() + PATIENCE_MS;
  for (;;) {
    const status = await release.kubectl(
      ...['get', 'hpa', `${PREFIX}-edge-proxy`, '--output'],
      'jsonpath={.status.currentReplicas} {.status.currentMetrics[0].resource.current.averageUtilization}',
    );
    const [replicas = '', percent = ''] = status.split(' ');
    if (Number(replicas) >= most) return `${replicas} replicas, which use ${percent} % of what they ask for`;
    if (Date.now() > deadline) throw new Error(`not scaled out in time: ${status}`);
    await delay(POLL_MS);
  }
}
