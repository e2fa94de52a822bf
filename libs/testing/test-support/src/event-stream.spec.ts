import { eventDataOf } from './event-stream';

it('returns the data of each event, without comments', () => {
  expect(
    eventDataOf(': keep-alive\n\ndata: {"a":1}\n\n: keep-alive\ndata: {"a":2}\n\ndata: [DONE]\n\n'),
  ).toEqual(['{"a":1}', '{"a":2}', '[DONE]']);
  expect(eventDataOf('')).toEqual([]);
});
