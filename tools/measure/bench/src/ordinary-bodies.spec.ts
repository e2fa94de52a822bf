import { readOptions } from './options';
import { ordinaryBodies } from './ordinary-bodies';

const made = (name: string, round: number): Buffer => {
  const body = ordinaryBodies.find((each) => each.name === name);
  if (!body) throw new Error(`no body of ${name}`);
  return body.make(round);
};

it.each([
  ['16 words', 50, 300],
  ['8 kB prompt', 8_000, 8_400],
  ['next turn of 200 kB', 200_000, 210_000],
  ['1 MB prompt', 1_000_000, 1_010_000],
  ['30 MB of images', 30_000_000, 32 * 1024 * 1024],
])('%s is a chat of that size', (name, least, most) => {
  const body = made(name, 0);
  const { messages } = JSON.parse(body.toString()) as { messages: unknown[] };
  expect(messages[0]).toMatchObject({ role: 'user' });
  expect(body.length).toBeGreaterThan(least);
  expect(body.length).toBeLessThan(most);
});

it('makes new text for every round, but for what is to be the same', () => {
  const isNew = (name: string) => !made(name, 1).equals(made(name, 2));
  expect([isNew('8 kB prompt'), isNew('1 MB prompt'), isNew('next turn of 200 kB')]).toEqual([
    true,
    true,
    true,
  ]);
  expect(isNew('8 kB prompt, the same again')).toBe(false);
  // All of the conversation but its last message.
  const turns = (round: number) =>
    (JSON.parse(made('next turn of 200 kB', round).toString()) as { messages: unknown[] }).messages;
  expect(turns(1).slice(0, -1)).toEqual(turns(2).slice(0, -1));
});

it('is asked for by name', () => {
  expect([[], ['--bodies'], ['--hostile-bodies']].map((argv) => readOptions(argv)?.bodies)).toEqual([
    undefined,
    'ordinary',
    'hostile',
  ]);
});
