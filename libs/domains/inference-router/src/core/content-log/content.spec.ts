import { generateRequest } from '../../testing/router-under-test';
import { toGenerationRequest } from '../../service/messages';
import { contentOf } from './content';

const MAX = 10_000;
const PNG = 'iVBORw0KGgo'.repeat(100);

function contentWith(body: unknown, response?: string, maxBytes = MAX) {
  const bodyJson = Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
  return contentOf(toGenerationRequest(generateRequest({ bodyJson })), response, maxBytes);
}

const saying = (content: unknown) => ({ messages: [{ role: 'user', content }] });
const parsed = (text: string) => JSON.parse(text) as Record<string, unknown>;

it('has the whole request and response as JSON', () => {
  const { request, response } = contentWith({ ...saying('Hello'), temperature: 0.5 }, '{"id":"gen-1"}');
  expect(request.isCut).toBe(false);
  expect(parsed(request.text)).toEqual({
    ...{ model: 'acme/m-1', stream: false, max_tokens: 100, n: 1 },
    ...{ ...saying('Hello'), temperature: 0.5 },
  });
  expect(response).toEqual({ text: '{"id":"gen-1"}', isCut: false });
  expect(contentWith(saying('Hello')).response).toBeUndefined();
});

it('has the input of a request for embeddings', () => {
  const bodyJson = Buffer.from('{"input":["Hello"]}');
  const message = generateRequest({ bodyJson, embeddings: true, maxOutputTokens: 0 });
  const { request } = contentOf(toGenerationRequest(message), undefined, MAX);
  expect(parsed(request.text)).toEqual({ model: 'acme/m-1', input: ['Hello'] });
});

it('replaces the base64 data of images by its length, also within escaped JSON', () => {
  const url = `data:image/png;base64,${PNG}==`;
  const image = { type: 'image_url', image_url: { url } };
  const { request, response } = contentWith(
    saying([{ type: 'text', text: 'Before' }, image, image, { type: 'text', text: 'After' }]),
    JSON.stringify({ arguments: JSON.stringify({ image: url, size: 7 }) }),
  );
  expect(request.text).not.toContain(PNG.slice(0, 20));
  const removed = 'data:image/png;base64,[1102 characters removed]';
  expect(parsed(request.text)).toMatchObject(
    saying([
      { type: 'text', text: 'Before' },
      { type: 'image_url', image_url: { url: removed } },
      { type: 'image_url', image_url: { url: removed } },
      { type: 'text', text: 'After' },
    ]),
  );
  const { arguments: inner } = parsed(response?.text ?? '') as { arguments: string };
  expect(JSON.parse(inner)).toEqual({ image: removed, size: 7 });
});

it('keeps text that mentions base64', () => {
  const text = 'A URI ends with ;base64,AAAA and its data; see data:,x "quoted" \\ ;base64,';
  expect(parsed(contentWith(saying(text)).request.text)).toMatchObject(saying(text));
});

it.each([0, 1, 2, 3, 4])('cuts at a whole character, and marks it (%i bytes later)', (more) => {
  const { request, response } = contentWith(saying('\u20ac'.repeat(1_000)), '\u20ac'.repeat(100), 200 + more);
  for (const { text, isCut } of [request, response ?? request]) {
    expect(isCut).toBe(true);
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(200 + more);
    expect(Buffer.byteLength(text)).toBeGreaterThan(197 + more);
    expect(text).not.toContain('\ufffd');
  }
});

it('does not cut a text of exactly the maximum size', () => {
  const response = 'x'.repeat(200);
  expect(contentWith(saying('Hi'), response, 200).response).toEqual({ text: response, isCut: false });
});

it('cuts after removing images, so that the text around them is kept', () => {
  const image = { type: 'image_url', image_url: { url: `data:image/png;base64,${PNG.repeat(50)}` } };
  const { request } = contentWith(saying([image, { type: 'text', text: 'the question' }]), undefined, 400);
  expect(request.isCut).toBe(false);
  expect(request.text).toContain('the question');
});
