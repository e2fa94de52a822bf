import { readCommand, type ClusterCommand } from './options';

const command = (args: readonly string[], environment: Record<string, string> = {}) =>
  readCommand(args, environment) as ClusterCommand;

describe('the command line of the cluster', () => {
  it('runs two of what carries the requests unless told otherwise', () => {
    const { replicas } = command([]);
    expect(replicas).toMatchObject({ 'edge-proxy': 2, 'rate-limit': 2, 'billing-ledger': 2, auth: 2 });
  });

  it('takes names whole and in short', () => {
    const { replicas } = command(['--replicas', 'edge=3', '--replicas', 'billing-ledger=4']);
    expect(replicas).toMatchObject({ 'edge-proxy': 3, 'billing-ledger': 4 });
  });

  it.each(['edge', 'edge=0', 'edge=10', 'nobody=2', 'edge=two', ''])('refuses %j replicas', (text) =>
    expect(() => command(['--replicas', text])).toThrow('--replicas'),
  );

  it('passes settings and keys of providers on, but not where this machine has its servers', () => {
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

  it('says which port is none', () => {
    expect(() => command([], { GATEWAY_PORT: '99999' })).toThrow('GATEWAY_PORT');
  });
});
