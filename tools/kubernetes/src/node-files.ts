import { randomBytes } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';

export const NODE_NAME = 'node1';
/** Of a bridge of its own: the kubelet refuses loopback, and nothing outside reaches this. */
export const NODE_ADDRESS = '10.77.0.1';
export const NODE_BRIDGE = 'kube-node';
export const POD_BRIDGE = 'kube-pods';
export const POD_NETWORK = '10.88.0.0/16';
export const SERVICE_NETWORK = '10.96.0.0/16';
export const PAUSE_IMAGE = 'gateway-kubernetes/pause:latest';

/** Configuration of the node's programs, all below its state folder. */
export interface NodeFiles {
  readonly kubeconfig: string;
  readonly tokens: string;
  readonly certificates: string;
  readonly containerdSocket: string;
  readonly volumes: string;
}

export function writeNodeFiles(state: string): NodeFiles {
  const file = (...names: string[]): string => path.join(state, ...names);
  for (const folder of ['cni', 'certificates', 'volumes']) mkdirSync(file(folder), { recursive: true });
  const token = randomBytes(24).toString('hex');
  const write = (name: string, text: string): void => writeFileSync(file(name), text, { mode: 0o600 });
  write('tokens.csv', `${token},admin,admin,"system:masters"\n`);
  write('kubeconfig', kubeconfig(token));
  write('kubelet.yaml', kubeletConfiguration(file('containerd.sock')));
  write('containerd.toml', containerdConfiguration(file('cni')));
  write('Corefile', corefile(file('kubeconfig')));
  write('cni/10-pods.conflist', JSON.stringify(podNetwork()));
  return {
    kubeconfig: file('kubeconfig'),
    tokens: file('tokens.csv'),
    certificates: file('certificates'),
    containerdSocket: file('containerd.sock'),
    volumes: file('volumes'),
  };
}

const kubeconfig = (token: string): string => `apiVersion: v1
kind: Config
clusters: [{ name: here, cluster: { server: 'https://${NODE_ADDRESS}:6443', insecure-skip-tls-verify: true } }]
users: [{ name: admin, user: { token: ${token} } }]
contexts: [{ name: here, context: { cluster: here, user: admin } }]
current-context: here
`;

/** The disk is shared with others, so its fullness says nothing about this node. */
const kubeletConfiguration = (socket: string): string => `apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
address: ${NODE_ADDRESS}
authentication: { anonymous: { enabled: true }, webhook: { enabled: false } }
authorization: { mode: AlwaysAllow }
containerRuntimeEndpoint: unix://${socket}
cgroupDriver: cgroupfs
failCgroupV1: false
failSwapOn: false
clusterDNS: [${NODE_ADDRESS}]
clusterDomain: cluster.local
localStorageCapacityIsolation: false
evictionHard: { nodefs.available: '0%', imagefs.available: '0%', memory.available: 50Mi }
imageGCHighThresholdPercent: 100
`;

/** Without the right to raise priorities, as in many containers, sandboxes only start with restrict_oom_score_adj. */
const containerdConfiguration = (cni: string): string => `version = 2
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "docker.io/${PAUSE_IMAGE}"
  restrict_oom_score_adj = true
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "/usr/lib/cni"
    conf_dir = "${cni}"
`;

const corefile = (kubeconfigFile: string): string => `.:53 {
  bind ${NODE_ADDRESS}
  errors
  kubernetes cluster.local in-addr.arpa {
    kubeconfig ${kubeconfigFile} here
    ttl 5
  }
  cache 5
}
`;

const podNetwork = (): object => ({
  cniVersion: '0.4.0',
  name: 'pods',
  plugins: [
    {
      type: 'bridge',
      bridge: POD_BRIDGE,
      isGateway: true,
      ipMasq: true,
      hairpinMode: true,
      ipam: { type: 'host-local', ranges: [[{ subnet: POD_NETWORK }]], routes: [{ dst: '0.0.0.0/0' }] },
    },
  ],
});
