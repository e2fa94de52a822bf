import { isRefusal } from '@gateway/errors';
import { pdfDocument } from '@gateway/test-support';
import type { PageCounts, ValidatedChatRequest } from '../chat-completion/types';
import { validateChatRequest } from '../chat-completion/validate-chat-request';
import type { JsonObject, JsonValue } from '../json/json-value';
import { ableModel, openPolicy, plainModel, quarterCounter } from '../testing/chat-fixtures';
import type { ChatFormatName } from './request-format';

const DATA = pdfDocument(2).toString('base64');
const URI = `data:application/pdf;base64,${DATA}`;
const FORWARDED = { type: 'file', file: { file_data: URI, filename: 'report.pdf' } };

/** How each format writes a document, and where its errors point. */
const FORMATS: Readonly<
  Record<
    ChatFormatName,
    {
      readonly part: (data: string) => JsonObject;
      readonly body: (content: JsonValue[]) => JsonObject;
      readonly partPath: string;
      readonly dataPath: string;
      readonly remote: readonly JsonObject[];
    }
  >
> = {
  chat: {
    part: (data) => ({
      type: 'file',
      file: { file_data: `data:application/pdf;base64,${data}`, filename: 'report.pdf' },
    }),
    body: (content) => ({ messages: [{ role: 'user', content }] }),
    partPath: 'messages[0].content[1]',
    dataPath: 'messages[0].content[1].file.file_data',
    remote: [
      { type: 'file', file: { file_id: 'file-1' } },
      { type: 'file', file: { file_data: 'https://example.com/a.pdf' } },
    ],
  },
  responses: {
    part: (data) => ({
      type: 'input_file',
      file_data: `data:application/pdf;base64,${data}`,
      filename: 'report.pdf',
    }),
    body: (content) => ({
      input: [
        {
          role: 'user',
          content: content.map((part) => {
            const { type, text } = part as JsonObject;
            return type === 'text' ? { type: 'input_text', text: text as string } : part;
          }),
        },
      ],
    }),
    partPath: 'input[0].content[1]',
    dataPath: 'input[0].content[1].file_data',
    remote: [
      { type: 'input_file', file_id: 'file-1' },
      { type: 'input_file', file_url: 'https://example.com/a.pdf' },
    ],
  },
  messages: {
    part: (data) => ({
      type: 'document',
      title: 'report.pdf',
      source: { type: 'base64', media_type: 'application/pdf', data },
    }),
    body: (content) => ({ max_tokens: 10, messages: [{ role: 'user', content }] }),
    partPath: 'messages[0].content[1]',
    dataPath: 'messages[0].content[1].source.data',
    remote: [
      { type: 'document', source: { type: 'file', file_id: 'file-1' } },
      { type: 'document', source: { type: 'url', url: 'https://example.com/a.pdf' } },
    ],
  },
};

describe.each(Object.entries(FORMATS))('a document in the format %s', (name, format) => {
  const counted: Uint8Array[] = [];
  beforeEach(() => void counted.splice(0));

  const validate = async (
    part: JsonObject,
    { model = ableModel.id, counts }: { readonly model?: string; readonly counts?: PageCounts } = {},
  ) =>
    validateChatRequest(
      { model, ...format.body([{ type: 'text', text: 'Summarize.' }, part]) },
      {
        policy: openPolicy,
        findModel: (id) => [ableModel, plainModel].find((one) => one.id === id),
        tokenCounter: quarterCounter,
        pageCounter: {
          count: async (documents) => {
            counted.push(...documents);
            return counts ?? { kind: 'counted', pages: documents.map(() => 2) };
          },
        },
        format: name as ChatFormatName,
      },
    );
  const accepted = async (part: JsonObject): Promise<ValidatedChatRequest> => {
    const result = await validate(part);
    if (isRefusal(result)) throw new Error(`refused: ${result.message}`);
    return result;
  };
  const refusalOf = async (...args: Parameters<typeof validate>) => {
    const result = await validate(...args);
    return isRefusal(result) ? `${result.code} ${result.param}` : 'accepted';
  };

  it('is forwarded as one part, and each page is held as an image', async () => {
    const request = await accepted(format.part(DATA));
    const { messages } = JSON.parse(request.bodyJson.toString()) as { messages: { content: unknown[] }[] };
    expect(messages[0]?.content[1]).toEqual(FORWARDED);
    expect(counted.map((bytes) => Buffer.from(bytes).equals(pdfDocument(2)))).toEqual([true]);
    const without = await accepted({ type: name === 'responses' ? 'input_text' : 'text', text: 'x' });
    const pages = 2 * ableModel.tokenCounting.pageTokens;
    expect(request.estimatedInputTokens - without.estimatedInputTokens).toBeGreaterThanOrEqual(pages);
  });

  it('is refused for a model without the capability, before its pages are counted', async () => {
    expect(await refusalOf(format.part(DATA), { model: plainModel.id })).toBe(
      `invalid_request ${format.partPath}`,
    );
    expect(counted).toEqual([]);
  });

  it('is refused as a link and as the id of a file, which is never requested', async () => {
    for (const part of format.remote) {
      expect(await refusalOf(part)).toMatch(new RegExp(`^invalid_request ${escaped(format.partPath)}`));
    }
    expect(counted).toEqual([]);
  });

  it.each([
    ['not base64', '%%%'],
    ['empty', ''],
  ])('is refused with data that is %s', async (_what, data) => {
    expect(await refusalOf(format.part(data))).toBe(`invalid_request ${format.dataPath}`);
  });

  it('is refused when its pages cannot be counted', async () => {
    const counts: PageCounts = { kind: 'unreadable', document: 0, problem: 'the PDF document is encrypted.' };
    expect(await refusalOf(format.part(DATA), { counts })).toBe(`invalid_request ${format.dataPath}`);
  });
});

const escaped = (text: string) => text.replace(/[[\].]/g, '\\$&');

it('is a text where Anthropic’s format has one', async () => {
  const source = { type: 'text', media_type: 'text/plain', data: 'The report.' };
  const result = await validateChatRequest(
    {
      model: plainModel.id,
      ...FORMATS.messages.body([{ type: 'document', title: 'Report', context: 'Of May.', source }]),
    },
    {
      policy: openPolicy,
      findModel: () => plainModel,
      tokenCounter: quarterCounter,
      format: 'messages',
    },
  );
  if (isRefusal(result)) throw new Error(result.message);
  const { messages } = JSON.parse(result.bodyJson.toString()) as { messages: { content: unknown }[] };
  expect(JSON.stringify(messages[0]?.content)).toContain('The report.');
});
