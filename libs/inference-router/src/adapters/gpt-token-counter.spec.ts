import type { TokenCounting } from '../core/catalogue/model-catalogue';
import { createGptTokenCounter } from './gpt-token-counter';

const counter = createGptTokenCounter();
const counting: TokenCounting = {
  encoding: 'o200k_base',
  factor: 1,
  imageFormula: 'constant',
  imageTokens: 0,
};

describe('counting tokens', () => {
  it('counts with the encoding and the factor of the model, and rounds up', async () => {
    expect(await counter.count(['Hello world'], counting)).toBe(2);
    expect(await counter.count(['Hello world', 'Hello'], { ...counting, factor: 1.1 })).toBe(4);
    expect(await counter.count(['Hello world'], { ...counting, encoding: 'cl100k_base' })).toBe(2);
    expect(await counter.count([], counting)).toBe(0);
  });

  it('takes what looks like a control token as text', async () => {
    expect(await counter.count(['<|endoftext|>'], counting)).toBeGreaterThan(1);
  });

  it('lets other work run while it counts a long unbroken run', async () => {
    let turns = 0;
    let counted = false;
    const tick = (): void => {
      turns += 1;
      if (!counted) setImmediate(tick);
    };
    setImmediate(tick);
    expect(await counter.count(['a'.repeat(100_000)], counting)).toBeGreaterThan(1_000);
    counted = true;
    expect(turns).toBeGreaterThan(5);
  });

  it('estimates beyond a size, by size alone', async () => {
    expect(await counter.count(['a'.repeat(1_200_000)], counting)).toBe(400_000);
  });
});
