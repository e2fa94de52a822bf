import { existsSync } from 'node:fs';
import { mkdir, readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import {
  NODE_ADDRESS,
  NODE_BRIDGE,
  NODE_NAME,
  POD_BRIDGE,
  POD_NETWORK,
  SERVICE_NETWORK,
  writeNodeFiles,
} from './node-files';
import { endProcesses, Processes } from './processes';
import { programIn } from './programs';
import { run, tryToRun } from './run';
import { volumeManifests } from './volumes';

/** A Kubernetes of one node that runs. */
export interface KubernetesNode {
  readonly kubeconfig: string;
  /** @returns what `kubectl` wrote. */
  kubectl(...args: readonly string[]): Promise<string>;
  apply(manifests: string): Promise<void>;
  /** Makes images of Docker's known to the node. */
  loadImages(names: readonly string[]): Promise<void>;
}

const READY_MS = 180_000;
const POLL_MS = 500;
const FORWARDED = [
  ['-i', POD_BRIDGE],
  ['-o', POD_BRIDGE],
];

/** Starts etcd, the control plane, containerd, the kubelet, kube-proxy and CoreDNS, and waits for a node that is ready. */
export async function startNode(cache: string, state: string): Promise<KubernetesNode> {
  if (existsSync(state)) throw new Error(`${state} is there already; --down takes that cluster down`);
  await mkdir(state, { recursive: true });
  const files = writeNodeFiles(state);
  await openNetwork();
  const processes = new Processes(state);
  const program = (name: string): string => programIn(cache, name);
  const kubectl = (...args: readonly string[]): Promise<string> =>
    run(program('kubectl'), ['--kubeconfig', files.kubeconfig, ...args]);

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
  await until('the API server answers', () => kubectl('get', '--raw', '/readyz'));

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
    kubectl('wait', '--for=condition=Ready', `node/${NODE_NAME}`, '--timeout=5s'),
  );
  const apply = async (manifests: string): Promise<void> => {
    const args = ['--kubeconfig', files.kubeconfig, 'apply', '--filename', '-'];
    await run(program('kubectl'), args, { input: manifests });
  };
  await apply(await volumeManifests(files.volumes));
  return {
    kubeconfig: files.kubeconfig,
    kubectl,
    apply,
    async loadImages(names) {
      const archive = path.join(state, 'images.tar');
      await run('docker', ['save', '--output', archive, ...names]);
      await run('ctr', [
        '--address',
        files.containerdSocket,
        '--namespace',
        'k8s.io',
        'images',
        'import',
        archive,
      ]);
      await rm(archive);
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
  await tryToRun('ip', ['link', 'add', NODE_BRIDGE, 'type', 'bridge']);
  await tryToRun('ip', ['address', 'add', `${NODE_ADDRESS}/32`, 'dev', NODE_BRIDGE]);
  await run('ip', ['link', 'set', NODE_BRIDGE, 'up']);
  await run('sysctl', ['-qw', 'net.ipv4.ip_forward=1']);
  // Answers between two pods on one bridge pass the rules that gave a service its address, or nobody knows them.
  await run('sysctl', ['-qw', 'net.bridge.bridge-nf-call-iptables=1']);
  // Docker drops what it does not forward itself.
  for (const rule of FORWARDED) await run('iptables', ['-I', 'FORWARD', ...rule, '-j', 'ACCEPT']);
}

/** Ends what runs, unmounts what is mounted, and removes the state; also what only came up in part. */
export async function takeDown(cache: string, state: string): Promise<void> {
  if (!existsSync(state)) return;
  const socket = path.join(state, 'containerd.sock');
  await endProcesses(state, (name) => name !== 'containerd');
  const ctr = ['--address', socket, '--namespace', 'k8s.io'];
  const tasks = await tryToRun('ctr', [...ctr, 'tasks', 'list', '--quiet']);
  for (const task of tasks.split('\n').filter(Boolean)) {
    await tryToRun('ctr', [...ctr, 'tasks', 'delete', '--force', task]);
  }
  await endProcesses(state, (name) => name === 'containerd');
  await tryToRun(programIn(cache, 'kube-proxy'), ['--cleanup']);
  for (const rule of FORWARDED) await tryToRun('iptables', ['-D', 'FORWARD', ...rule, '-j', 'ACCEPT']);
  for (const bridge of [NODE_BRIDGE, POD_BRIDGE]) await tryToRun('ip', ['link', 'delete', bridge]);
  for (const mounted of await mountsBelow(state)) await tryToRun('umount', ['--lazy', mounted]);
  await rm(state, { recursive: true, force: true, maxRetries: 5 });
}

async function mountsBelow(folder: string): Promise<string[]> {
  const mounts = await readFile('/proc/self/mounts', 'utf8');
  return mounts
    .split('\n')
    .map((line) => line.split(' ')[1] ?? '')
    .filter((target) => target.startsWith(`${folder}/`))
    .sort()
    .reverse();
}
