import { problemsOf, peerOf, type Peer, type PodObject } from './policies-step';

const pod = (component: string, container: PodObject['spec']['containers'][number]): Peer => {
  const [peer] = peerOf({
    metadata: { name: `${component}-1`, labels: { 'app.kubernetes.io/component': component } },
    spec: { containers: [container] },
    status: { podIP: '10.0.0.1' },
  });
  if (peer === undefined) throw new Error('no peer');
  return peer;
};
const edge = pod('edge-proxy', {
  env: [{ name: 'GATEWAY_RATE_LIMIT_TARGET', value: 'gateway-inference-gateway-rate-limit:50051' }],
  ports: [{ name: 'api', containerPort: 8080 }],
});
const limiter = pod('rate-limit', {
  env: [{ name: 'REDIS_URL' }],
  ports: [
    { name: 'grpc', containerPort: 50051 },
    { name: 'admin', containerPort: 8082 },
  ],
});
const dashboard = pod('dashboard-api', {
  env: [{ name: 'GATEWAY_AUTH_TARGET', value: 'gateway-inference-gateway-auth:50052' }],
});
const demo = pod('demo', { args: ['--auth=gateway-inference-gateway-auth:50051'] });

describe('the connections that a pod may open', () => {
  it('are those in its settings and arguments', () => {
    expect([...edge.calls]).toEqual(['rate-limit:50051']);
    expect([...dashboard.calls]).toEqual(['auth:50052']);
    expect([...limiter.calls]).toEqual(['redis:6379']);
    expect([...demo.calls]).toEqual(['auth:50051']);
  });

  it('are correct when exactly these succeed, plus connections to public ports from pods with open egress', () => {
    expect(
      problemsOf([
        { from: edge, to: limiter, port: 50_051, isOpen: true },
        { from: edge, to: limiter, port: 8_082, isOpen: false },
        { from: limiter, to: edge, port: 8_080, isOpen: true },
        { from: demo, to: edge, port: 8_080, isOpen: false },
      ]),
    ).toEqual([]);
  });

  it('are reported once when others succeed or these fail', () => {
    const wrong = { from: edge, to: limiter, port: 8_082, isOpen: true };
    expect(problemsOf([wrong, wrong, { ...wrong, port: 50_051, isOpen: false }])).toEqual([
      'edge-proxy can connect to rate-limit:8082',
      'edge-proxy cannot connect to rate-limit:50051',
    ]);
  });

  it('all succeed when the network plugin enforces no policies', () => {
    expect(problemsOf([{ from: edge, to: limiter, port: 8_082, isOpen: true }])).toEqual([
      expect.stringContaining('enforces no NetworkPolicies'),
    ]);
  });
});
