import { Cluster, MissingPrerequisite } from './cluster';
import { FakePrograms } from './fake-programs.fixture';
import { loadImages, needsLoading } from './load-images';
import { Release } from './release';

const IN_NAMESPACE = '--context here --namespace spot';

describe('a cluster by kubectl and helm', () => {
  let programs: FakePrograms;
  const cluster = new Cluster('here', 'spot');
  const release = new Release(cluster, '/tree');
  beforeEach(() => (programs = new FakePrograms()));
  afterEach(() => programs.remove());

  it('reports a missing program, and a cluster that does not respond', async () => {
    programs.add('kubectl', 'case "$*" in *--client*) ;; *) echo "connection refused" >&2; exit 1;; esac');
    await expect(cluster.expectReachable(['kubectl', 'no-such-program'])).rejects.toThrow(
      new MissingPrerequisite("'no-such-program' was not found on the PATH"),
    );
    await expect(cluster.expectReachable(['kubectl'])).rejects.toThrow(
      new MissingPrerequisite("the cluster of the context 'here' does not respond: connection refused"),
    );
  });

  it('installs the chart with the images and values from the options', async () => {
    programs.add('helm', '');
    await release.install({ registry: 'registry.test', imageTag: 'v2', set: ['demo.images.redis=other'] });
    await release.upgrade('image.tag=v3');
    const values = [
      'demo.enabled=true',
      'image.registry=registry.test',
      'image.tag=v2',
      'demo.images.redis=other',
    ];
    const target = '--wait --timeout 15m --kube-context here --namespace spot';
    expect(programs.calls()).toEqual([
      `helm install gateway /tree/helm/inference-gateway ${values.map((each) => `--set ${each}`).join(' ')} ${target}`,
      `helm upgrade gateway /tree/helm/inference-gateway --reset-then-reuse-values --set image.tag=v3 ${target}`,
    ]);
  });

  it("lists the release's pods without those of jobs", async () => {
    const pod = {
      metadata: {
        name: 'edge-1',
        labels: { 'app.kubernetes.io/component': 'edge-proxy' },
        deletionTimestamp: 'now',
      },
      spec: { nodeName: 'node-a' },
      status: {
        phase: 'Running',
        conditions: [{ type: 'Ready', status: 'True' }],
        containerStatuses: [{ restartCount: 2 }],
      },
    };
    programs.add('kubectl', `echo '${JSON.stringify({ items: [pod] })}'`);
    expect(await release.pods()).toEqual([
      {
        name: 'edge-1',
        component: 'edge-proxy',
        node: 'node-a',
        isReady: true,
        isTerminating: true,
        restarts: 2,
      },
    ]);
    expect(programs.calls()).toEqual([
      `kubectl ${IN_NAMESPACE} get pods --selector app.kubernetes.io/instance=gateway,!job-name --field-selector status.phase!=Succeeded --output json`,
    ]);
  });

  it('lists the workloads whose rollout has not ended, although all their pods may be ready', async () => {
    const of = (name: string, status: object) => ({
      metadata: { name, generation: 2 },
      spec: { replicas: 2 },
      status: { observedGeneration: 2, replicas: 2, updatedReplicas: 2, availableReplicas: 2, ...status },
    });
    const items = [
      of('done', {}),
      of('unseen', { observedGeneration: 1 }),
      of('has-an-old-pod', { replicas: 3, availableReplicas: 3 }),
      of('has-one-new-pod', { updatedReplicas: 1 }),
      of('ready-for-a-moment', { availableReplicas: undefined }),
    ];
    programs.add('kubectl', `echo '${JSON.stringify({ items })}'`);
    expect(await release.rollingOut()).toEqual(items.slice(1).map(({ metadata }) => metadata.name));
  });

  it('forwards a port until it is stopped, and reports why it cannot', async () => {
    programs.add(
      'kubectl',
      'case "$*" in *missing*) echo "no such pod" >&2; exit 1;; esac; echo "Forwarding from 127.0.0.1:4321 -> 80"; exec sleep 60',
    );
    const forward = await cluster.forwardPort('pod/edge-1', 80);
    expect(forward.address).toBe('127.0.0.1:4321');
    cluster.stopForwards();
    await expect(cluster.forwardPort('pod/missing', 80)).rejects.toThrow('no such pod');
    expect(programs.calls()).toContain(
      `kubectl ${IN_NAMESPACE} port-forward pod/edge-1 :80 --address 127.0.0.1`,
    );
  });

  it('loads local images only into kind, and only without a registry', async () => {
    expect(needsLoading({ context: 'kind-test', registry: undefined })).toBe(true);
    expect(needsLoading({ context: 'kind-test', registry: 'registry.test' })).toBe(false);
    expect(needsLoading({ context: 'production', registry: undefined })).toBe(false);
    programs.add('kind', '');
    const options = { context: 'kind-test', imageTag: 'v1', upgradeTag: 'v2' };
    expect(await loadImages(options, process.cwd())).toBe('22 images');
    const [call = ''] = programs.calls();
    expect(call).toContain('inference-gateway/certificates:v1');
    expect(call).toMatch(/^kind load docker-image inference-gateway\/\S+:v1 .*:v2 --name test$/);
  });
});
