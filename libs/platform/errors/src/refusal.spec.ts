import { isRefusal, refusalError, refuse } from './refusal';

it('tells a refusal, of this kind or of a domain’s own, from everything else', () => {
  expect(isRefusal(refuse('missing_model'))).toBe(true);
  expect(isRefusal({ kind: 'refusal', reason: 'not_found' })).toBe(true);
  for (const other of [undefined, null, 'refusal', 7, {}, { kind: 'claimed' }, new Error('refusal')]) {
    expect(isRefusal(other)).toBe(false);
  }
});

it('becomes the error that it stands for', () => {
  expect(refusalError(refuse('missing_scope', { param: 'scope' }))).toMatchObject({
    code: 'missing_scope',
    param: 'scope',
  });
});
