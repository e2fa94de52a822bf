import { readOptions } from './options';

const STEPS = ['test', 'upgrade'];

describe('the options', () => {
  it('require only a context', () => {
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

  it('set the controllers of Ingress and HTTPRoute with their URLs', () => {
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
    [[], /--context is required/],
    [['--context', 'x', '--only', 'upgrades'], /unknown step 'upgrades'; steps are test, upgrade/],
    [['--context', 'x', '--rate', 'fast'], /must be a number above 0, not 'fast'/],
    [['--context', 'x', '--rate', '0'], /must be a number above 0, not '0'/],
    [['--context', 'x', '--ingress', 'nginx'], /'nginx' is not NAME=URL/],
    [['--context', 'x', '--http-route', 'public=http://x'], /'public' is not NAMESPACE\/GATEWAY/],
    [['--no-such-option'], /--no-such-option/],
  ])('reject %j with the reason', (argv, reason) => {
    expect(() => readOptions(argv, STEPS)).toThrow(reason);
  });
});
