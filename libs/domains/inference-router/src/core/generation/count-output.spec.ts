import { GatewayError } from '@gateway/errors';
import type { TokenCounting } from '../catalogue/model-catalogue';
import { countOutput } from './count-output';

const counting: TokenCounting = {
  encoding: 'o200k_base',
  factor: 1.1,
  imageFormula: 'constant',
  imageTokens: 0,
};

describe('counting what a model wrote', () => {
  it('multiplies by the factor of the model and rounds up', async () => {
    const asked: unknown[] = [];
    const counter = {
      countAll: (texts: readonly string[], encoding: string) => {
        asked.push([texts, encoding]);
        return 3;
      },
    };
    expect(await countOutput(counter, ['Hello world', 'Hello'], counting)).toEqual({
      tokens: 4,
      isEstimated: false,
    });
    expect(asked).toEqual([[['Hello world', 'Hello'], 'o200k_base']]);
    expect(await countOutput(counter, [], counting)).toEqual({ tokens: 0, isEstimated: false });
    expect(asked).toHaveLength(1);
  });

  it('estimates from below when the counter has no capacity, so that the end is recorded all the same', async () => {
    const full = { countAll: () => Promise.reject(new GatewayError('no_capacity')) };
    expect(await countOutput(full, ['a'.repeat(400), 'bc'], counting)).toEqual({
      tokens: 101,
      isEstimated: true,
    });
  });

  it('rejects what is no want of capacity', async () => {
    const broken = { countAll: () => Promise.reject(new Error('no tokenizer for the encoding')) };
    await expect(countOutput(broken, ['a'], counting)).rejects.toThrow('no tokenizer');
  });
});
