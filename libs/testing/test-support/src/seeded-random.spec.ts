import { announceSeed, seededRandom } from './seeded-random';

describe('seededRandom', () => {
  it('returns the same sequence for the same seed, and another one for another seed', () => {
    const draw = (seed: number) => {
      const random = seededRandom(seed);
      return Array.from({ length: 20 }, () => random.next());
    };
    expect(draw(7)).toEqual(draw(7));
    expect(draw(7)).not.toEqual(draw(8));
  });

  it('draws integers uniformly, both bounds included', () => {
    const random = seededRandom(1);
    const counts = new Map<number, number>();
    for (let draw = 0; draw < 60_000; draw += 1) {
      const value = random.integer(-2, 3);
      counts.set(value, (counts.get(value) ?? 0) + 1);
    }
    expect([...counts.keys()].sort((a, b) => a - b)).toEqual([-2, -1, 0, 1, 2, 3]);
    for (const count of counts.values()) expect(Math.abs(count - 10_000)).toBeLessThan(500);
  });

  it('shuffles without losing or repeating items, and does not change the original', () => {
    const original = Array.from({ length: 50 }, (_, index) => index);
    const shuffled = seededRandom(3).shuffle(original);
    expect(shuffled).not.toEqual(original);
    expect([...shuffled].sort((a, b) => a - b)).toEqual(original);
  });
});

describe('announceSeed', () => {
  it('adds the seed to the error', async () => {
    const silenced = jest.spyOn(console, 'error').mockImplementation(() => undefined);
    let seed = 0;
    const failing = announceSeed((given) => {
      seed = given;
      throw new Error('sums differ');
    });
    await expect(failing).rejects.toThrow(/^\[SIMULATION_SEED=\d+\] sums differ$/);
    expect(silenced).toHaveBeenCalledWith(expect.stringContaining(`SIMULATION_SEED=${seed}`));
    silenced.mockRestore();
  });
});
