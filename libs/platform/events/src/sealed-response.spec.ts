import { createResponseKey, isResponseKey, openResponse, sealResponse } from './sealed-response';

const OWNER = { scope: 'scope', generationId: 'gen-1' };
const RESPONSE = { json: Buffer.from('{"answer":"marker-word"}'), events: Buffer.from('marker-word') };
const key = createResponseKey();
const sealed = sealResponse(key, OWNER, RESPONSE);

it('is opened with the key of its claim, and has no text in clear', () => {
  expect(isResponseKey(key)).toBe(true);
  expect(sealed.includes('marker-word')).toBe(false);
  expect(openResponse(key, OWNER, sealed)).toEqual(RESPONSE);
  expect(openResponse(key, OWNER, sealResponse(key, OWNER, { json: RESPONSE.json }))).toEqual({
    json: RESPONSE.json,
    events: undefined,
  });
});

it.each([
  ['another key', () => openResponse(createResponseKey(), OWNER, sealed)],
  ['another claim', () => openResponse(key, { ...OWNER, scope: 'other' }, sealed)],
  ['another generation', () => openResponse(key, { ...OWNER, generationId: 'gen-2' }, sealed)],
  [
    'a changed byte',
    () => openResponse(key, OWNER, Buffer.concat([sealed.subarray(0, -1), Buffer.of(0, 1)])),
  ],
  ['a part', () => openResponse(key, OWNER, sealed.subarray(0, 20))],
  ['nothing', () => openResponse(key, OWNER, Buffer.alloc(0))],
])('is not opened with %s', (_, open) => {
  expect(open).toThrow();
});
