import { readCommand, type ClusterCommand } from './options';

const command = (args: readonly string[], environment: Record<string, string> = {}) =>
  readCommand(args, environment) as ClusterCommand;

describe('the command line of the cluster', () => {
  it('runs two replicas of the services on the request path by default', () => {
    const { replicas } = command([]);
    expect(replicas).toMatchObject({ 'edge-proxy': 2, 'rate-limit': 2, 'billing-ledger': 2, auth: 2 });
  });

  it('accepts full and short service names', () => {
    const { replicas } = command(['--replicas', 'edge=3', '--replicas', 'billing-ledger=4']);
    expect(replicas).toMatchObject({ 'edge-proxy': 3, 'billing-ledger': 4 });
  });

  it.each(['edge', 'edge=0', 'edge=10', 'unknown=2', 'edge=two', ''])('rejects --replicas %j', (text) =>
    expect(() => command(['--replicas', text])).toThrow('--replicas'),
  );

  it('passes on settings and provider keys, but no addresses of servers', () => {
    const { environment, port } = command([], {
      LOG_LEVEL: 'debug',
      SOME_PROVIDER_KEY: 'k',
      GATEWAY_PORT: '9000',
      DATABASE_URL: 'postgres://elsewhere/x',
      DATABASE_DIRECT_URL: 'postgres://elsewhere/y',
      GATEWAY_AUTH_TARGET: 'elsewhere:1',
    });
    expect(environment).toEqual({ LOG_LEVEL: 'debug', SOME_PROVIDER_KEY: 'k' });
    expect(port).toBe(9000);
  });

  it('names the setting of an invalid port', () => {
    expect(() => command([], { GATEWAY_PORT: '99999' })).toThrow('GATEWAY_PORT');
  });
});
