import path from 'node:path';
import { readOptions } from './options';

const read = (...args: string[]) => readOptions(args, {});

describe('the command line of models', () => {
  it('reads a model to add, whose name may contain slashes', () => {
    expect(
      read(
        ...['add', 'openrouter/qwen/qwen3', '--file', '/a/models.yaml', '--max-output-tokens', '4096'],
        ...[
          '--context-window',
          '8192',
          '--capabilities',
          'tools, reasoning',
          '--reasoning-efforts',
          'low,high',
        ],
      ),
    ).toEqual({
      command: 'add',
      file: '/a/models.yaml',
      provider: 'openrouter',
      providerModel: 'qwen/qwen3',
      maxOutputTokens: 4096,
      contextWindow: 8192,
      capabilities: ['tools', 'reasoning'],
      reasoningEfforts: ['low', 'high'],
    });
    expect(read('add', 'a/b', '--capabilities', 'none')).toMatchObject({ capabilities: [] });
    expect(read('add', 'a/b')).toMatchObject({ capabilities: undefined, maxOutputTokens: undefined });
  });

  it('uses the models file of the gateway unless another one is named', () => {
    expect(readOptions(['diff'], {})).toEqual({ command: 'diff', file: path.resolve('models.yaml') });
    expect(readOptions(['diff'], { GATEWAY_MODELS_FILE: '/b.yaml' })).toMatchObject({ file: '/b.yaml' });
    expect(readOptions(['diff', '--file', '/c.yaml'], { GATEWAY_MODELS_FILE: '/b.yaml' })).toMatchObject({
      file: '/c.yaml',
    });
  });

  it.each([
    [[], 'missing command'],
    [['remove'], "unknown command 'remove'"],
    [['add'], 'add takes one argument, PROVIDER/MODEL'],
    [['add', 'claude'], 'add takes one argument, PROVIDER/MODEL'],
    [['add', 'anthropic/'], 'add takes one argument, PROVIDER/MODEL'],
    [['add', 'a/b', 'c/d'], 'add takes one argument, PROVIDER/MODEL'],
    [['diff', 'a/b'], "diff takes no argument: 'a/b'"],
    [['diff', '--capabilities', 'none'], '--capabilities is an option of add'],
    [['add', 'a/b', '--max-output-tokens', '64k'], "--max-output-tokens must be a number of tokens: '64k'"],
    [['add', 'a/b', '--capabilities', 'tools,'], "--capabilities must be a list such as a,b: 'tools,'"],
    [['diff', '--apply'], '--apply'],
  ])('refuses %j', (args, message) => {
    expect(() => read(...args)).toThrow(message);
  });
});
