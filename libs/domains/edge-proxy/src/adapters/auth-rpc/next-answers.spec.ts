import { NextAnswers } from './next-answers';

/** Questions that are answered when the test says so, each with how many came before it. */
function createOracle() {
  const open: { answer: () => void; fail: () => void }[] = [];
  let asked = 0;
  return {
    ask: () => {
      const number = (asked += 1);
      return new Promise<number>((resolve, reject) => {
        open.push({ answer: () => resolve(number), fail: () => reject(new Error(`no ${number}`)) });
      });
    },
    asked: () => asked,
    async answer() {
      open.shift()?.answer();
      await new Promise((resolve) => setImmediate(resolve));
    },
    async fail() {
      open.shift()?.fail();
      await new Promise((resolve) => setImmediate(resolve));
    },
  };
}

it('asks twice for a thousand callers at once: for the first, and for all who came after it', async () => {
  const oracle = createOracle();
  const answers = new NextAnswers<number>();
  const all = Array.from({ length: 1_000 }, () => answers.ask('a', oracle.ask));
  expect(oracle.asked()).toBe(1);
  await oracle.answer();
  expect(oracle.asked()).toBe(2);
  await oracle.answer();
  expect(await Promise.all(all)).toEqual([1, ...Array.from({ length: 999 }, () => 2)]);
});

it('never answers a caller from a question that was asked before it came', async () => {
  const oracle = createOracle();
  const answers = new NextAnswers<number>();
  const first = answers.ask('a', oracle.ask);
  const second = answers.ask('a', oracle.ask);
  await oracle.answer();
  // The second question is under way now.
  const third = answers.ask('a', oracle.ask);
  await oracle.answer();
  await oracle.answer();
  expect(await Promise.all([first, second, third])).toEqual([1, 2, 3]);
});

it('keeps nothing, and nobody fails for the question of another', async () => {
  const oracle = createOracle();
  const answers = new NextAnswers<number>();
  const failed = answers.ask('a', oracle.ask);
  const next = answers.ask('a', oracle.ask);
  await Promise.all([oracle.fail(), expect(failed).rejects.toThrow('no 1')]);
  await oracle.answer();
  expect(await next).toBe(2);
  const later = answers.ask('a', oracle.ask);
  expect(oracle.asked()).toBe(3);
  await oracle.answer();
  expect(await later).toBe(3);
});

it('keeps keys apart', async () => {
  const oracle = createOracle();
  const answers = new NextAnswers<number>();
  const both = Promise.all([answers.ask('a', oracle.ask), answers.ask('b', oracle.ask)]);
  expect(oracle.asked()).toBe(2);
  await oracle.answer();
  await oracle.answer();
  expect(await both).toEqual([1, 2]);
});
