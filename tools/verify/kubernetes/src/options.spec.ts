import { readOptions } from './options';

const STEPS = ['test', 'upgrade'];

describe('the options', () => {
  it('keep what is built once below the packages, unless told otherwise', () => {
    expect(readOptions([], '/tree', STEPS)).toMatchObject({
      cache: '/tree/node_modules/.cache/kubernetes',
      rate: 10,
      only: [],
      keep: false,
      kept: false,
      down: false,
    });
    expect(readOptions(['--cache', '/elsewhere'], '/tree', STEPS)).toMatchObject({ cache: '/elsewhere' });
  });

  it.each([
    [['--only', 'upgrades'], /there is no step 'upgrades', but test, upgrade/],
    [['--rate', 'fast'], /'fast' is no number above 0/],
    [['--rate', '0'], /'0' is no number above 0/],
    [['--no-such-option'], /--no-such-option/],
  ])('refuse %j with the reason', (argv, reason) => {
    expect(() => readOptions(argv, '/tree', STEPS)).toThrow(reason);
  });
});
