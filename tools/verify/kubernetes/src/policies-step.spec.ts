import { faultsOf, partyOf, type Party, type PodObject } from './policies-step';

const pod = (component: string, container: PodObject['spec']['containers'][number]): Party => {
  const [party] = partyOf({
    metadata: { name: `${component}-1`, labels: { 'app.kubernetes.io/component': component } },
    spec: { containers: [container] },
    status: { podIP: '10.0.0.1' },
  });
  if (party === undefined) throw new Error('no party');
  return party;
};
const edge = pod('edge-proxy', {
  env: [{ name: 'GATEWAY_RATE_LIMIT_TARGET' }],
  ports: [{ name: 'api', containerPort: 8080 }],
});
const limiter = pod('rate-limit', {
  env: [{ name: 'REDIS_URL' }],
  ports: [
    { name: 'grpc', containerPort: 50051 },
    { name: 'admin', containerPort: 8082 },
  ],
});
const demo = pod('demo', { args: ['--auth=gateway-inference-gateway-auth:50051'] });

describe('the connections that a pod may open', () => {
  it('are those that its settings and arguments name', () => {
    expect([...edge.calls]).toEqual(['rate-limit:50051']);
    expect([...limiter.calls]).toEqual(['redis:6379']);
    expect([...demo.calls]).toEqual(['auth:50051']);
  });

  it('have no fault where exactly these open, and the public ports to pods whose engines may be anywhere', () => {
    expect(
      faultsOf([
        { from: edge, to: limiter, port: 50_051, isOpen: true },
        { from: edge, to: limiter, port: 8_082, isOpen: false },
        { from: limiter, to: edge, port: 8_080, isOpen: true },
        { from: demo, to: edge, port: 8_080, isOpen: false },
      ]),
    ).toEqual([]);
  });

  it('are named once where others open or these do not', () => {
    const wrong = { from: edge, to: limiter, port: 8_082, isOpen: true };
    expect(faultsOf([wrong, wrong, { ...wrong, port: 50_051, isOpen: false }])).toEqual([
      'edge-proxy reaches rate-limit:8082',
      'edge-proxy does not reach rate-limit:50051',
    ]);
  });

  it('are all open where the network plugin enforces nothing', () => {
    expect(faultsOf([{ from: edge, to: limiter, port: 8_082, isOpen: true }])).toEqual([
      expect.stringContaining('enforces no NetworkPolicies'),
    ]);
  });
});
