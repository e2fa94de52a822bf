import { SERVICE_NAMES } from '@gateway/cluster';
import type { Cluster } from './cluster';
import { RELEASE_SELECTOR, type Pod, type Release } from './release';

interface NodeObject {
  readonly metadata: { readonly name: string };
  readonly spec: { readonly unschedulable?: boolean };
}

/** Without the datastores and the demo's programs: they have one replica each, so clients would notice. */
const SERVICE_PODS = `${RELEASE_SELECTOR},app.kubernetes.io/component in (${SERVICE_NAMES.join(',')})`;
const isService = ({ component }: Pod): boolean => SERVICE_NAMES.some((name) => name === component);

/** Names of the nodes that accept pods. */
export async function schedulableNodes(cluster: Cluster): Promise<string[]> {
  const { items } = JSON.parse(await cluster.kubectl('get', 'nodes', '--output', 'json')) as {
    items: NodeObject[];
  };
  return items.filter(({ spec }) => spec.unschedulable !== true).map(({ metadata }) => metadata.name);
}

/** Evicts the services' pods, within their disruption budgets, from the node that has most of them. */
export async function drainNode(release: Release): Promise<string> {
  const { cluster } = release;
  const services = (await release.pods()).filter(isService);
  const countOn = (node: string): number => services.filter((pod) => pod.node === node).length;
  const [node = ''] = [...(await schedulableNodes(cluster))].sort((a, b) => countOn(b) - countOn(a));
  const evict = ['--delete-emptydir-data', '--ignore-daemonsets', '--pod-selector', SERVICE_PODS];
  try {
    await cluster.kubectl('drain', node, ...evict, '--timeout=5m');
  } finally {
    await cluster.kubectl('uncordon', node);
  }
  return `${countOn(node)} pods evicted from ${node}`;
}

/** @throws Error if all replicas of a service run on one of several nodes */
export async function requireSpread(release: Release): Promise<string> {
  if ((await schedulableNodes(release.cluster)).length < 2) return 'one node';
  const pods = await release.pods();
  const together = SERVICE_NAMES.filter((service) => {
    const nodes = pods.filter(({ component }) => component === service).map(({ node }) => node);
    return nodes.length > 1 && new Set(nodes).size === 1;
  });
  if (together.length > 0) throw new Error(`all replicas on one node: ${together.join(', ')}`);
  return 'replicas on several nodes';
}
