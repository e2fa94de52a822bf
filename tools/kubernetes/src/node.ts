import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import {
  NODE_ADDRESS,
  NODE_BRIDGE,
  NODE_NAME,
  POD_NETWORK,
  SERVICE_NETWORK,
  nodeFiles,
  writeNodeFiles,
} from './node-files';
import { Processes } from './processes';
import { programIn } from './programs';
import { run } from './run';
import { volumeManifests } from './volumes';

/** A Kubernetes of one node that runs. */
export interface KubernetesNode {
  readonly kubeconfig: string;
  /** @returns what `kubectl` wrote. */
  kubectl(...args: readonly string[]): Promise<string>;
  apply(manifests: string): Promise<void>;
  /** @param archive as `docker save` writes it. */
  loadImages(archive: string): Promise<void>;
}

const READY_MS = 180_000;
const POLL_MS = 500;

/**
 * Starts etcd, the control plane, containerd, the kubelet, kube-proxy and CoreDNS, and waits for a node that is ready.
 * Runs in the enclosure, whose network it sets up.
 */
export async function startNode(cache: string, state: string): Promise<KubernetesNode> {
  const files = writeNodeFiles(state);
  await openNetwork();
  const processes = new Processes(state);
  const program = (name: string): string => programIn(cache, name);
  const node = openNode(cache, state);

  processes.start('containerd', 'containerd', [
    ...['--config', path.join(state, 'containerd.toml')],
    ...['--root', path.join(state, 'containerd'), '--state', path.join(state, 'containerd-state')],
    ...['--address', files.containerdSocket],
  ]);
  processes.start('etcd', program('etcd'), [
    ...['--data-dir', path.join(state, 'etcd')],
    ...['--listen-client-urls', 'http://127.0.0.1:2379', '--advertise-client-urls', 'http://127.0.0.1:2379'],
    ...['--listen-peer-urls', 'http://127.0.0.1:2380'],
    // Nothing of it is to survive.
    '--unsafe-no-fsync',
  ]);
  const key = path.join(files.certificates, 'service-accounts.key');
  await run('openssl', ['genrsa', '-out', key, '2048']);
  processes.start('kube-apiserver', program('kube-apiserver'), [
    '--etcd-servers=http://127.0.0.1:2379',
    '--service-account-issuer=https://kubernetes.local',
    `--service-account-key-file=${key}`,
    `--service-account-signing-key-file=${key}`,
    `--cert-dir=${files.certificates}`,
    `--token-auth-file=${files.tokens}`,
    '--authorization-mode=RBAC',
    `--service-cluster-ip-range=${SERVICE_NETWORK}`,
    `--bind-address=${NODE_ADDRESS}`,
    `--advertise-address=${NODE_ADDRESS}`,
    '--kubelet-preferred-address-types=InternalIP',
  ]);
  await until('the API server answers', () => node.kubectl('get', '--raw', '/readyz'));

  const own = `--kubeconfig=${files.kubeconfig}`;
  const name = `--hostname-override=${NODE_NAME}`;
  processes.start('kube-controller-manager', program('kube-controller-manager'), [
    own,
    '--leader-elect=false',
    `--service-account-private-key-file=${key}`,
  ]);
  processes.start('kube-scheduler', program('kube-scheduler'), [own, '--leader-elect=false']);
  processes.start('coredns', program('coredns'), ['-conf', path.join(state, 'Corefile')]);
  processes.start('kubelet', program('kubelet'), [
    own,
    name,
    `--config=${path.join(state, 'kubelet.yaml')}`,
    `--node-ip=${NODE_ADDRESS}`,
    `--root-dir=${path.join(state, 'kubelet')}`,
  ]);
  processes.start('kube-proxy', program('kube-proxy'), [
    own,
    name,
    '--proxy-mode=iptables',
    `--cluster-cidr=${POD_NETWORK}`,
    '--conntrack-max-per-core=0',
  ]);
  await until('the node is ready', () =>
    node.kubectl('wait', '--for=condition=Ready', `node/${NODE_NAME}`, '--timeout=5s'),
  );
  await node.apply(await volumeManifests(files.volumes));
  return node;
}

/** The node that was started with this state. Runs in the enclosure. */
export function openNode(cache: string, state: string): KubernetesNode {
  const { kubeconfig, containerdSocket } = nodeFiles(state);
  const kubectl = (args: readonly string[], input?: string): Promise<string> =>
    run(programIn(cache, 'kubectl'), ['--kubeconfig', kubeconfig, ...args], { input });
  return {
    kubeconfig,
    kubectl: (...args) => kubectl(args),
    async apply(manifests) {
      await kubectl(['apply', '--filename', '-'], manifests);
    },
    async loadImages(archive) {
      const own = ['--address', containerdSocket, '--namespace', 'k8s.io'];
      await run('ctr', [...own, 'images', 'import', archive]);
    },
  };
}

async function until(what: string, isSo: () => Promise<unknown>): Promise<void> {
  const deadline = Date.now() + READY_MS;
  for (;;) {
    try {
      await isSo();
      return;
    } catch (error) {
      if (Date.now() > deadline) throw new Error(`Not in time: ${what}. ${String(error)}`, { cause: error });
    }
    await delay(POLL_MS);
  }
}

async function openNetwork(): Promise<void> {
  await run('ip', ['link', 'add', NODE_BRIDGE, 'type', 'bridge']);
  await run('ip', ['address', 'add', `${NODE_ADDRESS}/32`, 'dev', NODE_BRIDGE]);
  await run('ip', ['link', 'set', NODE_BRIDGE, 'up']);
  // Nobody has these addresses, but only what has a way out meets the rules that lead to a pod.
  await run('ip', ['route', 'add', SERVICE_NETWORK, 'dev', NODE_BRIDGE]);
  await run('sysctl', ['-qw', 'net.ipv4.ip_forward=1']);
  // Answers between two pods on one bridge pass the rules that gave a service its address, or nobody knows them.
  await run('sysctl', ['-qw', 'net.bridge.bridge-nf-call-iptables=1']);
}
