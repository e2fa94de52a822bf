import { GatewayError } from '@gateway/errors';
import type { TokenCounting } from '../catalogue/model-catalogue';
import { countOutput } from './count-output';

const counting: TokenCounting = {
  encoding: 'o200k_base',
  factor: 1.1,
  imageFormula: 'constant',
  imageTokens: 0,
  pageTokens: 0,
};

describe('counting the output of a model', () => {
  it('multiplies by the factor of the model and rounds up', async () => {
    const calls: unknown[] = [];
    const counter = {
      countAll: (...call: readonly unknown[]) => {
        calls.push(call);
        return 3;
      },
    };
    expect(await countOutput(counter, ['Hello world', 'Hello'], counting, 'org')).toEqual({
      tokens: 4,
      isEstimated: false,
    });
    expect(calls).toEqual([[['Hello world', 'Hello'], 'o200k_base', { owner: 'org' }]]);
    expect(await countOutput(counter, [], counting, 'org')).toEqual({ tokens: 0, isEstimated: false });
    expect(calls).toHaveLength(1);
  });

  it('returns a lower bound when the counter has no capacity, so that the generation can be recorded', async () => {
    const full = { countAll: () => Promise.reject(new GatewayError('no_capacity')) };
    expect(await countOutput(full, ['a'.repeat(400), 'bc'], counting, 'org')).toEqual({
      tokens: 101,
      isEstimated: true,
    });
  });

  it('rejects with any other error', async () => {
    const broken = { countAll: () => Promise.reject(new Error('no tokenizer for the encoding')) };
    await expect(countOutput(broken, ['a'], counting, 'org')).rejects.toThrow('no tokenizer');
  });
});
