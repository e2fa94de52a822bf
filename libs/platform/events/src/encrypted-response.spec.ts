import { createResponseKey, isResponseKey, decryptResponse, encryptResponse } from './encrypted-response';

const OWNER = { scope: 'scope', generationId: 'gen-1' };
const RESPONSE = { json: Buffer.from('{"text":"marker-word"}'), events: Buffer.from('marker-word') };
const key = createResponseKey();
const encrypted = encryptResponse(key, OWNER, RESPONSE);

it('is opened with the key of its claim, and has no text in clear', () => {
  expect(isResponseKey(key)).toBe(true);
  expect(encrypted.includes('marker-word')).toBe(false);
  expect(decryptResponse(key, OWNER, encrypted)).toEqual(RESPONSE);
  expect(decryptResponse(key, OWNER, encryptResponse(key, OWNER, { json: RESPONSE.json }))).toEqual({
    json: RESPONSE.json,
    events: undefined,
  });
});

it.each([
  ['another key', () => decryptResponse(createResponseKey(), OWNER, encrypted)],
  ['another claim', () => decryptResponse(key, { ...OWNER, scope: 'other' }, encrypted)],
  ['another generation', () => decryptResponse(key, { ...OWNER, generationId: 'gen-2' }, encrypted)],
  [
    'a changed byte',
    () => decryptResponse(key, OWNER, Buffer.concat([encrypted.subarray(0, -1), Buffer.of(0, 1)])),
  ],
  ['a part', () => decryptResponse(key, OWNER, encrypted.subarray(0, 20))],
  ['nothing', () => decryptResponse(key, OWNER, Buffer.alloc(0))],
])('is not opened with %s', (_, open) => {
  expect(open).toThrow();
});
