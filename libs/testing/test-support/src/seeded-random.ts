/** Repeatable randomness for simulations: the same seed gives the same run. */
export interface SeededRandom {
  /** From 0, below 1. */
  next(): number;
  /** An integer from `low` to `high`, both included. */
  integer(low: number, high: number): number;
  /** True with the given probability. */
  chance(probability: number): boolean;
  pick<Item>(items: readonly Item[]): Item;
  /** A new array in random order. */
  shuffle<Item>(items: readonly Item[]): Item[];
}

/** A counter stepped by the golden ratio and mixed by two multiplications; 32 bits of state. */
export function seededRandom(seed: number): SeededRandom {
  let state = seed >>> 0;

  function next(): number {
    state = (state + 0x9e3779b9) >>> 0;
    let mixed = state;
    mixed = Math.imul(mixed ^ (mixed >>> 16), 0x21f0aaad);
    mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97);
    return ((mixed ^ (mixed >>> 15)) >>> 0) / 2 ** 32;
  }

  function integer(low: number, high: number): number {
    return low + Math.floor(next() * (high - low + 1));
  }

  return {
    next,
    integer,
    chance: (probability) => next() < probability,
    pick(items) {
      if (items.length === 0) throw new Error('nothing to pick from');
      return items[integer(0, items.length - 1)] as (typeof items)[number];
    },
    shuffle(items) {
      const shuffled = [...items];
      for (let index = shuffled.length - 1; index > 0; index -= 1) {
        const other = integer(0, index);
        [shuffled[index], shuffled[other]] = [shuffled[other]!, shuffled[index]!];
      }
      return shuffled;
    },
  };
}

/** The seeds to run: 1 to `count`, or only SIMULATION_SEED if set. */
export function simulationSeeds(count: number): readonly number[] {
  const given = givenSeed();
  return given === undefined ? Array.from({ length: count }, (_, index) => index + 1) : [given];
}

/**
 * Runs a simulation with SIMULATION_SEED, or a random seed. A failure names the seed, so
 * that it can be reproduced.
 */
export async function announceSeed(simulate: (seed: number) => Promise<void> | void): Promise<void> {
  const seed = givenSeed() ?? Math.floor(Math.random() * 2 ** 31) + 1;
  try {
    await simulate(seed);
  } catch (error) {
    if (error instanceof Error) error.message = `[SIMULATION_SEED=${seed}] ${error.message}`;
    console.error(`to reproduce this simulation: SIMULATION_SEED=${seed}`);
    throw error;
  }
}

function givenSeed(): number | undefined {
  const given = Number(process.env['SIMULATION_SEED']);
  return Number.isSafeInteger(given) && given > 0 ? given : undefined;
}
