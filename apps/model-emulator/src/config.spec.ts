import { readConfig } from './config';

describe('the arguments of the model emulator', () => {
  it('have defaults for local use', () => {
    expect(readConfig([])).toEqual({
      host: '127.0.0.1',
      port: 8_090,
      seed: 1,
      tokensPerSecond: 0,
      delayMs: 0,
    });
    expect(readConfig(['--rate', '50', '--key', 'a', '--key', 'b'])).toMatchObject({
      tokensPerSecond: 50,
      apiKeys: ['a', 'b'],
    });
    expect(readConfig(['--help'])).toBe('help');
  });

  it.each([
    [['--port', 'high'], "--port takes a whole number, not 'high'"],
    [['--no-such-option'], '--no-such-option'],
  ])('are rejected with the reason: %j', (argv, reason) => {
    expect(() => readConfig(argv)).toThrow(reason);
  });
});
