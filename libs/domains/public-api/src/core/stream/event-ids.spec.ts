import { eventNumbering, splitEvents } from './event-ids';

it('numbers the events of a stream on, over several texts', () => {
  const number = eventNumbering(4);
  expect(number('data: a\n\ndata: b\n\n')).toBe('id: 5\ndata: a\n\nid: 6\ndata: b\n\n');
  expect(number('')).toBe('');
  expect(number('data: c\n\n')).toBe('id: 7\ndata: c\n\n');
});

it('splits complete events', () => {
  expect(splitEvents('data: a\n\ndata: b\n\n')).toEqual(['data: a\n\n', 'data: b\n\n']);
  expect(splitEvents('')).toEqual([]);
});
