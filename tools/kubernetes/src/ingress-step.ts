import { setTimeout as delay } from 'node:timers/promises';
import { stringify } from 'yaml';
import type { Load, Seen } from './load';
import { NODE_ADDRESS } from './node-files';
import type { KubernetesNode } from './node';
import { gatewayApiKinds } from './programs';
import type { Release } from './release';

const PORT = 8_000;
const READY_MS = 60_000;
const UNDER_LOAD_MS = 15_000;
const CLASS = 'traefik';
const GATEWAY = 'public';
const HOSTS = { ingress: 'api.ingress.test', httpRoute: 'api.route.test' } as const;

/** The names at which the controller serves, for /etc/hosts. */
export const INGRESS_HOSTS = `${NODE_ADDRESS} ${Object.values(HOSTS).join(' ')}`;

const OBJECTS = [
  {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'IngressClass',
    metadata: { name: CLASS },
    spec: { controller: 'traefik.io/ingress-controller' },
  },
  {
    apiVersion: 'gateway.networking.k8s.io/v1',
    kind: 'GatewayClass',
    metadata: { name: CLASS },
    spec: { controllerName: 'traefik.io/gateway-controller' },
  },
];

const gateway = (namespace: string): object => ({
  apiVersion: 'gateway.networking.k8s.io/v1',
  kind: 'Gateway',
  metadata: { name: GATEWAY, namespace },
  spec: { gatewayClassName: CLASS, listeners: [{ name: 'web', protocol: 'HTTP', port: PORT }] },
});

/**
 * Starts Traefik, gives the release an Ingress and an HTTPRoute, and sends requests through each.
 *
 * @returns what clients saw, and into how many pieces the streams that were looked at came.
 */
export async function throughIngress({
  node,
  cache,
  release,
  load,
}: {
  node: KubernetesNode;
  cache: string;
  release: Release;
  load: Load;
}): Promise<{ kind: string; seen: Seen; pieces: number }[]> {
  await node.kubectl('apply', '--server-side', '--filename', gatewayApiKinds(cache));
  await node.apply([...OBJECTS, gateway(release.namespace)].map((each) => stringify(each)).join('---\n'));
  node.start(
    'traefik',
    `--entrypoints.web.address=${NODE_ADDRESS}:${PORT}`,
    ...['--providers.kubernetesingress=true', '--providers.kubernetesgateway=true'],
    ...['--global.checknewversion=false', '--global.sendanonymoususage=false'],
  );
  await release.upgrade(
    ...['--set', `ingress.enabled=true,ingress.className=${CLASS},ingress.apiHost=${HOSTS.ingress}`],
    ...['--set', `httpRoute.enabled=true,httpRoute.apiHost=${HOSTS.httpRoute}`],
    ...['--set', `httpRoute.parentRefs[0].name=${GATEWAY}`],
  );
  const results = [];
  for (const [kind, host] of Object.entries(HOSTS)) {
    const baseUrl = `http://${host}:${PORT}/v1`;
    await untilServed(baseUrl);
    let pieces = 0;
    const seen = await load.during(async () => {
      pieces = await piecesOfStream(baseUrl, load);
      await delay(UNDER_LOAD_MS);
    }, baseUrl);
    results.push({ kind, seen, pieces });
  }
  return results;
}

/** Until the gateway, not the controller, says what is wrong. */
async function untilServed(baseUrl: string): Promise<void> {
  const deadline = Date.now() + READY_MS;
  for (;;) {
    const status = await fetch(`${baseUrl}/models`).then(
      (response) => response.status,
      () => 0,
    );
    if (status === 401) return;
    if (Date.now() > deadline) throw new Error(`${baseUrl} is not served: ${status}`);
    await delay(500);
  }
}

/** How often something came of a stream that takes its time; a controller that buffers brings it at once. */
async function piecesOfStream(baseUrl: string, { tenants: [tenant], model }: Load): Promise<number> {
  const response = await fetch(`${baseUrl}/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${tenant?.apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      model,
      stream: true,
      max_tokens: 20,
      messages: [{ role: 'user', content: '[[tokens:20]] [[rate:10]]' }],
    }),
  });
  if (!response.ok || !response.body) throw new Error(`a stream was answered with ${response.status}`);
  let pieces = 0;
  for await (const _ of response.body) pieces += 1;
  return pieces;
}
