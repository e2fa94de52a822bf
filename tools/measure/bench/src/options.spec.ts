import { HELP, readOptions } from './options';

const read = (...argv: string[]) => {
  const options = readOptions(argv);
  if (options === 'help') throw new Error('help');
  return options;
};

describe('the command line of the bench', () => {
  it('compares all targets when no command is given', () => {
    expect(read()).toMatchObject({
      command: 'compare',
      otherBuilds: undefined,
      slowStreams: 5_000,
      rounds: 3,
    });
    expect(read('--quick')).toMatchObject({ command: 'compare', slowStreams: 1_000, rounds: 1 });
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
    expect(read('history', '1000', '--only', 'usage')).toMatchObject({
      historyRows: 1_000,
      historyParts: ['usage'],
    });
  });

  it.each([
    [['nonsense'], "unknown command 'nonsense'"],
    [['--only', 'nginx'], "unknown name 'nginx'"],
    [['history'], 'history requires ROWS'],
    [['history', 'many'], "ROWS must be a positive integer, not 'many'"],
    [['ab'], 'ab requires DIR'],
    [['paced', '/dist'], 'paced takes no argument'],
    [['statements', '--json', 'x'], 'statements has no option --json'],
    [['--sizes', '2'], 'compare has no option --sizes'],
  ])('rejects %j with the reason', (argv, reason) => {
    expect(() => readOptions(argv)).toThrow(reason);
  });

  it('lists every command in its help', () => {
    expect(readOptions(['--help'])).toBe('help');
    for (const name of [
      'compare',
      'ab DIR',
      'paced',
      'peers',
      'statements',
      'dialects',
      'profile',
      'cluster',
      'ledger',
      'history ROWS',
    ])
      expect(HELP).toContain(`\n  ${name} `);
  });
});
