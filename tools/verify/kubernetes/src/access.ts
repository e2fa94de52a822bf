import type { Cluster, PortForward } from './cluster';
import { PREFIX } from './release';

/** URLs of the release's public API and dashboard on this machine, without a path. */
export interface Access {
  readonly apiUrl: string;
  readonly dashboardUrl: string;
  close(): Promise<void>;
}

const NAME = 'verify-access';
const PORTS = { 'edge-proxy': 8_001, 'dashboard-api': 8_002 };
const READY_TIMEOUT = '180s';

/** Forwards each connection to a Service, which picks one of its pods. */
const RELAY = `
  const net = require('node:net');
  for (const [host, port] of JSON.parse(process.argv[1])) {
    net.createServer({ allowHalfOpen: true, noDelay: true }, (from) => {
      const to = net.connect({ host, port: 80, allowHalfOpen: true, noDelay: true });
      const close = () => { from.destroy(); to.destroy(); };
      from.on('error', close).pipe(to);
      to.on('error', close).pipe(from);
    }).listen(port);
  }
  process.on('SIGTERM', () => process.exit());`;

/**
 * Port forwarding to a pod breaks when the pod is replaced. Therefore ports are forwarded to a separate relay pod,
 * which connects to the Services like any client in the cluster.
 */
export async function openAccess(cluster: Cluster): Promise<Access> {
  const image = await cluster.kubectl(
    ...['get', 'deployment', `${PREFIX}-edge-proxy`, '--output'],
    'jsonpath={.spec.template.spec.containers[0].image}',
  );
  const targets = Object.entries(PORTS).map(([component, port]) => [`${PREFIX}-${component}`, port]);
  await cluster.kubectl('delete', 'pod', NAME, '--ignore-not-found');
  await cluster.apply(JSON.stringify(ALLOW_RELAY));
  await cluster.apply(JSON.stringify(relayPod(cluster.namespace, image, JSON.stringify(targets))));
  await cluster.kubectl('wait', '--for=condition=Ready', `pod/${NAME}`, `--timeout=${READY_TIMEOUT}`);
  const forwards = await Promise.all(
    Object.values(PORTS).map((port) => cluster.forwardPort(`pod/${NAME}`, port)),
  );
  const [api, dashboard] = forwards as [PortForward, PortForward];
  return {
    apiUrl: `http://${api.address}`,
    dashboardUrl: `http://${dashboard.address}`,
    async close() {
      for (const forward of forwards) forward.stop();
      await cluster.kubectl('delete', 'pod,networkpolicy', NAME, '--ignore-not-found');
    },
  };
}

const LABELS = { app: NAME };

/** The namespace denies all other traffic. */
const ALLOW_RELAY = {
  apiVersion: 'networking.k8s.io/v1',
  kind: 'NetworkPolicy',
  metadata: { name: NAME },
  spec: { podSelector: { matchLabels: LABELS }, policyTypes: ['Egress'], egress: [{}] },
};

const relayPod = (namespace: string, image: string, targets: string): object => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: NAME, namespace, labels: LABELS },
  spec: {
    automountServiceAccountToken: false,
    terminationGracePeriodSeconds: 1,
    securityContext: { runAsNonRoot: true, runAsUser: 65_532, seccompProfile: { type: 'RuntimeDefault' } },
    containers: [
      {
        name: 'relay',
        image,
        command: ['node', '--eval', RELAY, targets],
        securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
        readinessProbe: { tcpSocket: { port: PORTS['edge-proxy'] } },
      },
    ],
  },
});
