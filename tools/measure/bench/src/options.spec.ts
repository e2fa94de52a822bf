import { HELP, readOptions } from './options';

const read = (...argv: string[]) => {
  const options = readOptions(argv);
  if (options === 'help') throw new Error('help');
  return options;
};

describe('the command line of the bench', () => {
  it('compares all targets when no command is given', () => {
    expect(read()).toMatchObject({
      command: 'ab',
      otherBuilds: undefined,
      slowStreams: 5_000,
      rounds: 3,
    });
    expect(read('--quick')).toMatchObject({ command: 'ab', slowStreams: 1_000, rounds: 1 });
    expect(read('--only', 'node,gateway').targets).toEqual(['node', 'gateway']);
  });

  it('parses a command with its argument and options', () => {
    expect(read('ab', '/before/dist', '--only', 'gateway')).toMatchObject({
      command: 'ab',
      otherBuilds: '/before/dist',
      targets: ['gateway'],
    });
    expect(read('peers', '--cache', '/tmp/x')).toMatchObject({ command: 'peers', cacheFolder: '/tmp/x' });
    expect(read('cluster', '--sizes', '1,3').sizes).toEqual([1, 3]);
  });

  it.each([
    [['nonsense'], "unknown command 'nonsense'"],
    [['--only', 'nginx'], "unknown name 'nginx'"],
    [['cluster', '--sizes', 'many'], "--sizes must be a positive integer, not 'many'"],
    [['ab', '/dist', '/other'], 'ab takes one argument'],
    [['peers', '/dist'], 'peers takes no argument'],
    [['ledger', '--json', 'x'], 'ledger has no option --json'],
    [['--sizes', '2'], 'ab has no option --sizes'],
  ])('rejects %j with the reason', (argv, reason) => {
    expect(() => readOptions(argv)).toThrow(reason);
  });

  it('lists every command in its help', () => {
    expect(readOptions(['--help'])).toBe('help');
    for (const name of ['ab [DIR]', 'peers', 'cluster', 'ledger']) expect(HELP).toContain(`\n  ${name} `);
  });
});
