import { createChangeTracker } from './changes';

it('reports each added and each removed item once', () => {
  const changesTo = createChangeTracker<{ name: string }>(({ name }) => name);
  const [a, b, c] = ['a', 'b', 'c'].map((name) => ({ name })) as [
    { name: string },
    { name: string },
    { name: string },
  ];
  expect(changesTo([a, b])).toEqual({ appeared: [a, b], gone: [] });
  expect(changesTo([a, b])).toEqual({ appeared: [], gone: [] });
  expect(changesTo([b, c])).toEqual({ appeared: [c], gone: ['a'] });
  expect(changesTo([])).toEqual({ appeared: [], gone: ['b', 'c'] });
  expect(changesTo([a, a])).toEqual({ appeared: [a], gone: [] });
});
