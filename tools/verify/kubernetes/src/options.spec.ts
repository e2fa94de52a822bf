import { readOptions } from './options';

const STEPS = ['test', 'upgrade'];

describe('the options', () => {
  it('need a context and nothing else', () => {
    expect(readOptions(['--context', 'kind-kind'], STEPS)).toMatchObject({
      context: 'kind-kind',
      namespace: 'gateway-verify',
      registry: undefined,
      rate: 10,
      only: [],
      keep: false,
      kept: false,
    });
  });

  it('name the ways into the cluster with the URL of their controllers', () => {
    const options = readOptions(
      [
        ...['--context', 'here', '--ingress', 'nginx=http://api.test:8080'],
        ...['--http-route', 'infra/public=https://route.test'],
      ],
      STEPS,
    );
    expect(options).toMatchObject({
      ingress: { name: 'nginx', url: new URL('http://api.test:8080') },
      httpRoute: { name: 'infra/public', url: new URL('https://route.test') },
    });
  });

  it.each([
    [[], /--context is missing/],
    [['--context', 'x', '--only', 'upgrades'], /there is no step 'upgrades', but test, upgrade/],
    [['--context', 'x', '--rate', 'fast'], /'fast' is no number above 0/],
    [['--context', 'x', '--rate', '0'], /'0' is no number above 0/],
    [['--context', 'x', '--ingress', 'nginx'], /'nginx' is no NAME=URL/],
    [['--context', 'x', '--http-route', 'public=http://x'], /'public' is no NAMESPACE\/GATEWAY/],
    [['--no-such-option'], /--no-such-option/],
  ])('refuse %j with the reason', (argv, reason) => {
    expect(() => readOptions(argv, STEPS)).toThrow(reason);
  });
});
