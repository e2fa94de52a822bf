import { GatewayError, isRefusal } from '@gateway/errors';
import type { FormatName } from '../../formats/request-format';
import type { JsonObject, JsonValue } from '../../json/json-value';
import { ableModel, openPolicy, plainModel, quarterCounter, verdict } from '../../testing/chat-fixtures';
import { dataUri } from '../../testing/image-fixtures';
import type { PageCounter, PageCounts, ValidatedChatRequest } from '../types';
import { validateChatRequest } from '../validate-chat-request';

const BYTES = Buffer.from('%PDF-1.7\n%%EOF\n');
const BASE64 = BYTES.toString('base64');
const PDF = dataUri('application/pdf', BYTES);
const models = new Map([ableModel, plainModel].map((model) => [model.id, model]));

/** How each format writes a document in a message of the user, and where its data is. */
const formats = {
  chat: {
    body: (document: JsonObject) => ({ messages: [{ role: 'user', content: [document] }] }),
    document: { type: 'file', file: { file_data: PDF, filename: 'a.pdf' } },
    link: { type: 'file', file: { file_data: 'https://example.com/a.pdf' } },
    stored: { type: 'file', file: { file_id: 'file-1' } },
    part: 'messages[0].content[0]',
    data: '.file.file_data',
  },
  responses: {
    body: (document: JsonObject) => ({ input: [{ role: 'user', content: [document] }] }),
    document: { type: 'input_file', file_data: PDF, filename: 'a.pdf' },
    link: { type: 'input_file', file_url: 'https://example.com/a.pdf' },
    stored: { type: 'input_file', file_id: 'file-1' },
    part: 'input[0].content[0]',
    data: '.file_data',
  },
  messages: {
    body: (document: JsonObject) => ({ max_tokens: 10, messages: [{ role: 'user', content: [document] }] }),
    document: {
      type: 'document',
      title: 'a.pdf',
      source: { type: 'base64', media_type: 'application/pdf', data: BASE64 },
    },
    link: { type: 'document', source: { type: 'url', url: 'https://example.com/a.pdf' } },
    stored: { type: 'document', source: { type: 'file', file_id: 'file-1' } },
    part: 'messages[0].content[0]',
    data: '.source.data',
  },
} as const;

const counterOf = (counts: PageCounts): PageCounter => ({ count: async () => counts });

async function validate(
  format: FormatName,
  body: JsonObject,
  pageCounter: PageCounter = counterOf({ kind: 'counted', documents: [{ pages: 3, characters: 0 }] }),
) {
  return validateChatRequest(
    { model: ableModel.id, ...body },
    {
      policy: openPolicy,
      findModel: (id) => models.get(id),
      tokenCounter: quarterCounter,
      pageCounter,
      caller: { owner: 'org_1' },
      format,
    },
  );
}

function acceptedOf(result: Awaited<ReturnType<typeof validate>>): ValidatedChatRequest {
  if (isRefusal(result)) throw new Error(`${result.param}: ${result.message}`);
  return result;
}

describe.each(Object.entries(formats))('a document in the format %s', (name, format) => {
  const given = name as FormatName;
  const body = format.body(format.document);

  it('reaches the model, and each page is counted and held as an image', async () => {
    const text = { messages: [{ role: 'user', content: [{ type: 'text', text: 'a.pdf' }] }] };
    const plain = acceptedOf(await validate('chat', { ...text, max_tokens: 10 }));
    const counted = acceptedOf(
      await validate(given, { ...body, ...(given === 'responses' ? {} : { max_tokens: 10 }) }),
    );
    const { messages } = JSON.parse(counted.bodyJson.toString()) as { messages: JsonValue };
    expect(messages).toEqual([
      { role: 'user', content: [{ type: 'file', file: { file_data: PDF, filename: 'a.pdf' } }] },
    ]);
    const { pageTokens } = ableModel.tokenCounting;
    expect(counted.inputParts).toEqual({ images: 3, imageTokens: 3 * pageTokens, hasDefinitions: false });
    expect(counted.estimatedInputTokens - plain.estimatedInputTokens).toBe(3 * pageTokens);
    expect(counted.heldCostNanoUsd > plain.heldCostNanoUsd).toBe(true);
  });

  it('is held by its text where its pages are dense', async () => {
    const { pageTokens } = ableModel.tokenCounting;
    const dense = counterOf({ kind: 'counted', documents: [{ pages: 1, characters: 5 * 4 * pageTokens }] });
    const counted = acceptedOf(await validate(given, body, dense));
    expect(counted.inputParts).toMatchObject({ images: 1, imageTokens: 5 * pageTokens });
  });

  it('is counted from its own bytes, for its owner', async () => {
    const count = jest.fn(async (): Promise<PageCounts> => ({
      kind: 'counted',
      documents: [{ pages: 1, characters: 0 }],
    }));
    await validate(given, body, { count });
    expect(count).toHaveBeenCalledWith([expect.anything()], { owner: 'org_1' });
    const [[[pdf]]] = count.mock.calls as unknown as [[[Uint8Array]]];
    expect(Buffer.from(pdf).equals(BYTES)).toBe(true);
  });

  it.each(['link', 'stored'] as const)('is refused as a %s', async (kind) => {
    const result = await validate(given, format.body(format[kind]));
    expect(result).toMatchObject({ code: 'invalid_request', param: expect.stringContaining(format.part) });
  });

  it('is refused by a model without the capability, and not counted', async () => {
    const count = jest.fn();
    const result = await validate(given, { ...body, model: plainModel.id }, { count });
    expect(verdict(result)).toBe(`invalid_request ${format.part}`);
    expect(count).not.toHaveBeenCalled();
  });

  it('is refused where its pages cannot be counted, with the path of its data', async () => {
    const unreadable = counterOf({ kind: 'unreadable', document: 0, problem: 'it is broken.' });
    expect(verdict(await validate(given, body, unreadable))).toBe(
      `invalid_request ${format.part}${format.data}`,
    );
  });

  it('is refused where its pages exceed the context', async () => {
    const long = counterOf({ kind: 'counted', documents: [{ pages: 5_000_000, characters: 0 }] });
    expect(await validate(given, body, long)).toMatchObject({ code: 'context_length_exceeded' });
  });

  it('fails as its counter fails', async () => {
    const error = new GatewayError('no_capacity', { internalMessage: 'full' });
    await expect(validate(given, body, { count: () => Promise.reject(error) })).rejects.toBe(error);
  });
});

it.each([
  'https://example.com/a.pdf',
  BASE64,
  dataUri('image/png', BYTES),
  'data:application/pdf,AAAA',
  'data:application/pdf;base64,',
  'data:application/pdf;base64,A-_A',
])('data that is no inlined document is refused: %j', async (data) => {
  const document = { type: 'file', file: { file_data: data } };
  const result = await validate('chat', formats.chat.body(document));
  expect(verdict(result)).toBe('invalid_request messages[0].content[0].file.file_data');
});

it('a text document of messages is text, for every model, after its context', async () => {
  const source = { type: 'text', media_type: 'text/plain', data: 'Once upon a time' };
  const document = { type: 'document', source, title: 'A tale', context: 'A tale follows.' };
  const body = { ...formats.messages.body(document), model: plainModel.id };
  const { bodyJson } = acceptedOf(await validate('messages', body));
  expect(JSON.parse(bodyJson.toString())).toMatchObject({
    messages: [
      {
        content: [
          { type: 'text', text: 'A tale follows.' },
          { type: 'text', text: 'Once upon a time' },
        ],
      },
    ],
  });
});
