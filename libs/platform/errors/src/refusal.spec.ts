import { isRefusal, refusalError, refuse } from './refusal';

it('recognizes a refusal, of this type or of a domain’s own, and nothing else', () => {
  expect(isRefusal(refuse('missing_model'))).toBe(true);
  expect(isRefusal({ kind: 'refusal', reason: 'not_found' })).toBe(true);
  for (const other of [undefined, null, 'refusal', 7, {}, { kind: 'claimed' }, new Error('refusal')]) {
    expect(isRefusal(other)).toBe(false);
  }
});

it('converts to the error with the same code', () => {
  expect(refusalError(refuse('missing_scope', { param: 'scope' }))).toMatchObject({
    code: 'missing_scope',
    param: 'scope',
  });
});
