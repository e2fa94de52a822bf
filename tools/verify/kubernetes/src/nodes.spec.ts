import { SERVICE_NAMES } from '@gateway/cluster';
import { Cluster } from './cluster';
import { FakePrograms } from './fake-programs.fixture';
import { drainNode, requireSpread, schedulableNodes } from './nodes';
import { Release } from './release';

describe('the nodes of a cluster', () => {
  let programs: FakePrograms;
  const release = new Release(new Cluster('here', 'spot'), '/tree');
  beforeEach(() => (programs = new FakePrograms()));
  afterEach(() => programs.remove());

  /** @param pods component and node of each */
  function run(pods: readonly (readonly [string, string])[], { nodes = ['a', 'b'], drain = '' } = {}): void {
    const items = pods.map(([component, nodeName], index) => ({
      metadata: { name: `${component}-${index}`, labels: { 'app.kubernetes.io/component': component } },
      spec: { nodeName },
      status: { phase: 'Running' },
    }));
    const nodeItems = [
      ...nodes.map((name) => ({ metadata: { name }, spec: {} })),
      { metadata: { name: 'cordoned' }, spec: { unschedulable: true } },
    ];
    programs.add(
      'kubectl',
      `case "$*" in
        *"get nodes"*) echo '${JSON.stringify({ items: nodeItems })}';;
        *"get pods"*) echo '${JSON.stringify({ items })}';;
        *" drain "*) ${drain};;
      esac`,
    );
  }

  const commands = () =>
    programs.calls().filter((call) => call.includes(' drain ') || call.includes(' uncordon '));

  it('are those that accept pods', async () => {
    run([]);
    expect(await schedulableNodes(release.cluster)).toEqual(['a', 'b']);
  });

  it('are drained of the replicated services only, at the node with most of them', async () => {
    run([
      ['postgres', 'a'],
      ['redis', 'a'],
      ['auth', 'a'],
      ['auth', 'b'],
      ['edge-proxy', 'b'],
    ]);
    expect(await drainNode(release)).toBe('2 pods evicted from b');
    const [drain = '', uncordon] = commands();
    expect(drain).toContain(' drain b ');
    expect(drain).toContain(`app.kubernetes.io/component in (${SERVICE_NAMES.join(',')})`);
    expect(uncordon).toMatch(/ uncordon b$/);
  });

  it('accept pods again if the drain fails', async () => {
    run([['auth', 'a']], { drain: 'exit 1' });
    await expect(drainNode(release)).rejects.toThrow('exited with code 1');
    expect(commands().at(-1)).toMatch(/ uncordon a$/);
  });

  it('share the replicas of each service', async () => {
    run([
      ['auth', 'a'],
      ['auth', 'b'],
      ['redis', 'a'],
      ['usage-aggregator', 'a'],
    ]);
    expect(await requireSpread(release)).toBe('replicas on several nodes');
    run([
      ['auth', 'a'],
      ['auth', 'a'],
    ]);
    await expect(requireSpread(release)).rejects.toThrow('all replicas on one node: auth');
    run(
      [
        ['auth', 'a'],
        ['auth', 'a'],
      ],
      { nodes: ['a'] },
    );
    expect(await requireSpread(release)).toBe('one node');
  });
});
