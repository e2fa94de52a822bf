import { Turnstile, type TurnstileOptions } from './turnstile';

const ROOMY = {
  maxPerTurn: 2,
  usualTurnMs: 40,
  maxPerLongTurn: 6,
  maxWaitMs: 1_000,
  maxWaiting: 100,
  maxWaitingOfOwner: 100,
};

/** A turnstile whose turns are ours to take, with the names of what has begun. */
function aTurnstile(options: Partial<TurnstileOptions> = {}) {
  const turns: (() => void)[] = [];
  const begun: string[] = [];
  const refused: string[] = [];
  const gone = new Set<string>();
  let nowMs = 0;
  const turnstile = new Turnstile(
    { now: () => nowMs, inNextTurn: (callback) => void turns.push(callback) },
    { ...ROOMY, ...options },
  );
  return {
    turnstile,
    begun,
    refused,
    gone,
    pass: (ms: number) => (nowMs += ms),
    enter(...names: string[]) {
      for (const name of names) {
        const turn = turnstile.enter(name.charAt(0), () => gone.has(name));
        if (turn === undefined) begun.push(name);
        else if (turn === 'too_much') refused.push(name);
        else void turn.then(() => begun.push(name));
      }
    },
    /** @returns whether there was one to take. */
    async turn(): Promise<boolean> {
      const taken = turns.splice(0);
      for (const callback of taken) callback();
      await Promise.resolve();
      return taken.length > 0;
    },
  };
}

test('lets begin at once what one turn can begin, and the rest in later turns, none forgotten', async () => {
  const { enter, turn, begun, turnstile } = aTurnstile();
  enter('a1', 'a2', 'a3', 'a4', 'a5');
  expect([begun, turnstile.waiting]).toEqual([['a1', 'a2'], 3]);
  await turn();
  expect(begun).toEqual(['a1', 'a2', 'a3', 'a4']);
  await turn();
  expect(begun).toEqual(['a1', 'a2', 'a3', 'a4', 'a5']);
  expect(turnstile.waiting).toBe(0);
});

test('asks for no turn when there is nothing to do, and begins at once again', async () => {
  const { enter, turn, begun } = aTurnstile();
  enter('a1');
  expect(await turn()).toBe(true);
  expect(await turn()).toBe(false);
  enter('a2', 'a3');
  expect(begun).toEqual(['a1', 'a2', 'a3']);
});

test('what comes later does not overtake what waits', async () => {
  const { enter, turn, begun } = aTurnstile({ maxPerTurn: 1 });
  enter('a1', 'a2', 'a3');
  await turn();
  enter('a4');
  expect(begun).toEqual(['a1', 'a2']);
  while (await turn());
  expect(begun).toEqual(['a1', 'a2', 'a3', 'a4']);
});

test('owners take turns, so that none waits behind all that another has sent', async () => {
  const { enter, turn, begun } = aTurnstile();
  enter('a1', 'a2', 'a3', 'a4', 'a5', 'b1', 'c1');
  await turn();
  await turn();
  expect(begun).toEqual(['a1', 'a2', 'a3', 'b1', 'c1', 'a4']);
});

test('refuses the newest of an owner whose oldest has waited for too long, and of no other', async () => {
  const { enter, turn, pass, begun, refused } = aTurnstile({ maxPerTurn: 1, maxPerLongTurn: 1 });
  enter('a1', 'a2', 'b1');
  pass(1_001);
  enter('a3', 'b2', 'c1');
  expect(refused).toEqual(['a3', 'b2']);
  await turn();
  expect(begun).toEqual(['a1', 'a2']);
  enter('a4');
  expect(refused).toEqual(['a3', 'b2']);
});

test('refuses the newest when as many wait as may, of one owner or in all', () => {
  const { enter, refused } = aTurnstile({ maxPerTurn: 1, maxWaiting: 3, maxWaitingOfOwner: 2 });
  enter('a1', 'a2', 'a3', 'a4', 'b1', 'b2');
  expect(refused).toEqual(['a4', 'b2']);
});

test('lets more begin behind a turn that took long, so that what is refused in it does not use up all turns', async () => {
  const { enter, turn, pass, begun } = aTurnstile();
  const names = Array.from({ length: 40 }, (_, index) => `a${index}`);
  enter(...names);
  const begunIn = async (ms: number) => {
    const before = begun.length;
    pass(ms);
    await turn();
    return begun.length - before;
  };
  expect(await begunIn(79)).toBe(2);
  expect(await begunIn(80)).toBe(4);
  expect(await begunIn(10_000)).toBe(6);
  expect(await begunIn(0)).toBe(2);
});

test('what nobody waits for any more takes nobody’s place in its turn', async () => {
  const { enter, turn, gone, begun } = aTurnstile({ maxPerTurn: 1 });
  enter('a1', 'a2', 'a3', 'a4', 'a5');
  for (const name of ['a2', 'a3']) gone.add(name);
  await turn();
  expect(begun).toEqual(['a1', 'a2', 'a3', 'a4']);
});
