import { setTimeout as delay } from 'node:timers/promises';
import { SERVICE_NAMES } from '@gateway/cluster';
import { auditBooks } from './books';
import { untilScaledOut } from './autoscaling-step';
import { conformance } from './conformance';
import { ENGINE_IMAGES, NEXT_TAG } from './images';
import { throughIngress } from './ingress-step';
import { seenIn, type Load, type Seen } from './load';
import type { KubernetesNode } from './node';
import { enforcePolicies } from './policies-step';
import { PREFIX, type Release } from './release';

export interface StepContext {
  readonly root: string;
  readonly cache: string;
  readonly node: KubernetesNode;
  readonly release: Release;
  /** Begins at the first step that needs it. */
  readonly load: () => Promise<Load>;
}

/** @returns what there is to say of it. @throws Error when it did not go as promised. */
type Run = (context: StepContext) => Promise<string>;

export interface Step {
  readonly name: string;
  /** What `--only` calls it. */
  readonly group: string;
  readonly run: Run;
}

const READY_MS = 600_000;
const POLL_MS = 1_000;
/** So that requests also come after the last pod got ready. */
const QUIET_MS = 3_000;

/** The demo from this machine's images; everything else is as the chart has it. */
const DEMO = [
  ...['--set', 'demo.enabled=true'],
  ...Object.entries(ENGINE_IMAGES).flatMap(([name, image]) => ['--set', `demo.images.${name}=${image}`]),
];
const COMPONENTS = [...SERVICE_NAMES, 'redis', 'kafka', 'postgres'];
const SCALED = { 'edge-proxy': [4, 1, 2], 'billing-ledger': [3, 1, 2] };

const MOST_EDGES = 3;
/** Of some twenty that are sent apart. */
const STREAMED_PIECES = 10;

export const INSTALL: Step = { name: 'helm install', group: 'install', run: install };

/** After the installation, in this order. */
export const STEPS: readonly Step[] = [
  { name: 'helm test', group: 'test', run: helmTest },
  { name: 'conformance', group: 'conformance', run: ({ root, release }) => conformance(root, release) },
  { name: 'network policies under load', group: 'policies', run: policies },
  { name: 'helm upgrade under load', group: 'upgrade', run: upgrade },
  ...COMPONENTS.map((component) => ({
    name: `delete a pod of ${component}`,
    group: 'delete',
    run: deletePod(component),
  })),
  ...Object.entries(SCALED).map(([component, counts]) => ({
    name: `scale ${component} to ${counts.join(', ')}`,
    group: 'scale',
    run: scale(component, counts),
  })),
  { name: 'helm rollback under load', group: 'rollback', run: rollback },
  { name: 'Ingress and HTTPRoute under load', group: 'ingress', run: ingress },
  { name: 'autoscaling of the edge under load', group: 'autoscaling', run: autoscaling },
  { name: 'books', group: 'books', run: books },
  { name: 'helm uninstall', group: 'uninstall', run: uninstall },
];

async function install({ release }: StepContext): Promise<string> {
  await release.makeNamespace();
  await release.install(...DEMO);
  const pods = await release.pods();
  const restarts = pods.reduce((sum, pod) => sum + pod.restarts, 0);
  return `${pods.length} pods ready, ${restarts} restarts of containers`;
}

async function helmTest({ release }: StepContext): Promise<string> {
  await release.test();
  return '';
}

async function policies({ release, load }: StepContext): Promise<string> {
  const opened = await load();
  let seen: Seen | undefined;
  const { tried, open } = await enforcePolicies(release, async (work) => {
    seen = await opened.during(work);
  });
  return `${tried} connections tried between pods, ${open} came about, all as wanted; ${withoutFailure(seen!)}`;
}

async function upgrade({ release, load }: StepContext): Promise<string> {
  const seen = await (
    await load()
  ).during(async () => {
    await release.upgrade('--set', `image.tag=${NEXT_TAG}`);
    await untilReady(release);
  });
  return withoutFailure(seen);
}

async function rollback({ release, load }: StepContext): Promise<string> {
  const seen = await (
    await load()
  ).during(async () => {
    await release.rollback();
    await untilReady(release);
  });
  return withoutFailure(seen);
}

function deletePod(component: string): Run {
  return async ({ release, load }) => {
    const victim = (await release.pods()).find((pod) => pod.component === component);
    if (victim === undefined) throw new Error(`there is no pod of ${component}`);
    const seen = await (
      await load()
    ).during(async () => {
      await release.kubectl('delete', 'pod', victim.name);
      await untilReady(release);
    });
    return withCatalogueErrors(seen);
  };
}

function scale(component: string, counts: readonly number[]): Run {
  return async ({ release, load }) => {
    const workload = await release.workload(component);
    const seen = await (
      await load()
    ).during(async () => {
      for (const count of counts) {
        await release.kubectl('scale', workload, `--replicas=${count}`);
        await untilReady(release, { component, count });
      }
    });
    return withoutFailure(seen);
  };
}

async function ingress({ cache, node, release, load }: StepContext): Promise<string> {
  const results = await throughIngress({ cache, node, release, load: await load() });
  return results
    .map(({ kind, seen, pieces }) => {
      if (pieces < STREAMED_PIECES) throw new Error(`a stream through ${kind} came in ${pieces} pieces`);
      return `${kind}: ${withoutFailure(seen)}, a stream in ${pieces} pieces`;
    })
    .join('; ');
}

async function autoscaling({ node, release, load }: StepContext): Promise<string> {
  let scaled = '';
  const seen = await (
    await load()
  ).during(async () => {
    scaled = await untilScaledOut(node, release, MOST_EDGES);
    await untilReady(release);
  });
  return `${scaled}; ${withoutFailure(seen)}`;
}

async function books({ release, load }: StepContext): Promise<string> {
  const opened = await load();
  const faults = await auditBooks(release, opened);
  if (faults.length > 0) throw new Error(faults.slice(0, 10).join('\n'));
  const { requests } = seenIn(opened.attempts);
  return `exact after ${requests} requests`;
}

/** From which the passwords are made that the kept database knows. */
const KEPT_SECRET = `secret/${PREFIX}-demo`;
/** Of the namespace itself; Kubernetes makes them. */
const OF_NAMESPACE = ['configmap/kube-root-ca.crt', 'serviceaccount/default'];

async function uninstall({ release }: StepContext): Promise<string> {
  await release.uninstall();
  const deadline = Date.now() + READY_MS;
  for (;;) {
    const left = await leftOf(release);
    const volumes = left.filter((name) => name.startsWith('persistentvolumeclaim/'));
    const others = left.filter((name) => !volumes.includes(name) && name !== KEPT_SECRET);
    if (others.length === 0)
      return `nothing left but ${volumes.length} volumes and the secret of their passwords`;
    // Pods may still end what they began.
    if (Date.now() > deadline) throw new Error(`left behind: ${others.join(', ')}`);
    await delay(POLL_MS);
  }
}

/** Everything in the namespace but what is the namespace's own. */
async function leftOf(release: Release): Promise<string[]> {
  const kinds = await release.kubectl(
    ...['api-resources', '--verbs=list', '--namespaced', '--output', 'name'],
  );
  // Events are of the past, and metrics of pods that may be gone.
  const listed = kinds.split('\n').filter((kind) => kind !== '' && !/^events|metrics\.k8s\.io$/.test(kind));
  return (await release.kubectl('get', listed.join(','), '--output', 'name'))
    .split('\n')
    .filter((name) => name !== '' && !OF_NAMESPACE.includes(name));
}

/** Until no pod is on its way in or out. */
async function untilReady(
  release: Release,
  wanted?: { readonly component: string; readonly count: number },
): Promise<void> {
  const deadline = Date.now() + READY_MS;
  for (;;) {
    await delay(POLL_MS);
    const pods = await release.pods();
    const count = pods.filter(({ component }) => component === wanted?.component).length;
    const settled = pods.every(({ isReady, isLeaving }) => isReady && !isLeaving);
    if (settled && (wanted === undefined || wanted.count === count)) break;
    if (Date.now() > deadline) {
      const late = pods.filter(({ isReady, isLeaving }) => !isReady || isLeaving).map(({ name }) => name);
      throw new Error(`not ready in time: ${late.join(', ')}`);
    }
  }
  await delay(QUIET_MS);
}

function withoutFailure(seen: Seen): string {
  if (Object.keys(seen.errors).length > 0 || seen.wrong.length > 0) throw new Error(describe(seen));
  return describe(seen);
}

/** A part is away: that may be said, in the catalogue's words, but no connection may end without an answer. */
function withCatalogueErrors(seen: Seen): string {
  const { errors, wrong } = seen;
  if ('lost' in errors || 'late' in errors || wrong.length > 0) throw new Error(describe(seen));
  return describe(seen);
}

function describe({ requests, errors, wrong }: Seen): string {
  const named = Object.entries(errors).map(([code, count]) => `${code} ${count}`);
  return [`${requests} requests`, named.join(', ') || 'none failed', ...wrong.slice(0, 3)].join('; ');
}
