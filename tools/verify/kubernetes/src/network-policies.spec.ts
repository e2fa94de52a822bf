import { policyRules, type Cluster, type NetworkPolicy, type PolicyPod } from './network-policies';

const pod = (address: string, app: string, namespace = 'here'): PolicyPod => ({
  namespace,
  address,
  labels: { app },
  namedPorts: { grpc: 50051 },
});
const cluster = (...policies: NetworkPolicy['spec'][]): Cluster => ({
  policies: policies.map((spec) => ({ metadata: { namespace: 'here' }, spec })),
  pods: [pod('10.0.0.1', 'server'), pod('10.0.0.2', 'client'), pod('10.0.0.3', 'client', 'elsewhere')],
  namespaces: { here: {}, elsewhere: { team: 'other' } },
  podNetwork: '10.0.0.0/16',
});
/** The rules of a chain, without the last: all else is dropped. */
function rulesOf(text: string, chain: string): string[] | undefined {
  const [, body] = new RegExp(`chain ${chain} \\{\\n([^}]*)\\}`).exec(text) ?? [];
  const rules = body
    ?.split('\n')
    .map((line) => line.trim())
    .filter(Boolean);
  expect(rules === undefined || rules.pop() === 'drop').toBe(true);
  return rules;
}
const server = { podSelector: { matchLabels: { app: 'server' } } };

describe('the rules of policies', () => {
  it('leave alone whom no policy selects', () => {
    const text = policyRules(cluster({ ...server, policyTypes: ['Ingress'] }));
    expect(rulesOf(text, 'ingress_10_0_0_1')).toEqual([]);
    expect(rulesOf(text, 'egress_10_0_0_1')).toBeUndefined();
    expect(rulesOf(text, 'ingress_10_0_0_2')).toBeUndefined();
  });

  it("let in pods of the policy's own namespace, at ports by the listener's names for them", () => {
    const from = [{ podSelector: { matchLabels: { app: 'client' } } }];
    const ports = [{ port: 'grpc' }, { port: 'unknown' }, { port: 53, protocol: 'UDP' as const }];
    const text = policyRules(cluster({ ...server, policyTypes: ['Ingress'], ingress: [{ from, ports }] }));
    expect(rulesOf(text, 'ingress_10_0_0_1')).toEqual([
      'ip saddr 10.0.0.2 tcp dport 50051 return',
      'ip saddr 10.0.0.2 udp dport 53 return',
    ]);
  });

  it('let in pods of other namespaces by the labels of these', () => {
    const from = [{ namespaceSelector: { matchLabels: { team: 'other' } } }];
    const text = policyRules(cluster({ ...server, policyTypes: ['Ingress'], ingress: [{ from }] }));
    expect(rulesOf(text, 'ingress_10_0_0_1')).toEqual(['ip saddr 10.0.0.3 return']);
  });

  it('let out to blocks of addresses, but for what is excepted, and anywhere by an empty rule', () => {
    const to = [{ ipBlock: { cidr: '10.0.0.0/8', except: ['10.9.0.0/16'] } }];
    const text = policyRules(cluster({ ...server, policyTypes: ['Egress'], egress: [{ to }, {}] }));
    expect(rulesOf(text, 'egress_10_0_0_1')).toEqual([
      'ip daddr 10.0.0.0/8 ip daddr != 10.9.0.0/16 return',
      'return',
    ]);
  });

  it('add up when several select a pod', () => {
    const open = { ...server, policyTypes: ['Ingress' as const], ingress: [{}] };
    const text = policyRules(cluster({ ...server, policyTypes: ['Ingress'] }, open));
    expect(rulesOf(text, 'ingress_10_0_0_1')).toEqual(['return']);
  });
});
