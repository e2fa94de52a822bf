import Anthropic from '@anthropic-ai/sdk';
import { hostilePdfDocuments, pdfDocument, type Tenant } from '@gateway/test-support';
import { nothingReserved, usageOnceAllCharged } from './testing/accounting';
import { modelsByDialect, writeModelsOfAllDialects } from './testing/dialect-models';
import { startTestEnv, type TestEnv } from './testing/test-env';

jest.setTimeout(180_000);

const PAGES = 3;
/** What the emulator counts for a page. */
const TOKENS_PER_PAGE = 1_500;
const QUESTION = 'What does the document say?';
const uri = (pdf: Buffer) => `data:application/pdf;base64,${pdf.toString('base64')}`;

let testEnv: TestEnv;

beforeAll(async () => {
  const { modelsFile, env } = writeModelsOfAllDialects();
  testEnv = await startTestEnv({
    modelsFile,
    env: { ...env, GATEWAY_ENDPOINTS: 'chat,messages,responses' },
  });
});

afterAll(() => testEnv?.stop());

const completionOf = (apiKey: string, model: string, pdf: Buffer) =>
  testEnv.client(apiKey).chat.completions.create({
    model,
    max_tokens: 50,
    messages: [
      {
        role: 'user',
        content: [
          { type: 'text', text: QUESTION },
          { type: 'file', file: { file_data: uri(pdf), filename: 'report.pdf' } },
        ],
      },
    ],
  });

/** The unmodified SDKs send a document to a provider in its own format, which the emulator checks. */
describe.each(Object.entries(modelsByDialect('vision')))('a PDF document, over %s', (_, model) => {
  let tenant: Tenant;

  beforeAll(async () => {
    tenant = await testEnv.tenant();
  });

  /** What was charged is what the usage says, to the nano-dollar, and nothing is reserved. */
  afterEach(async () => {
    const { baseUrl } = testEnv.gateway;
    await nothingReserved(baseUrl, tenant.apiKey);
    await usageOnceAllCharged(baseUrl, tenant.apiKey);
  });

  it('is read by a chat completion', async () => {
    const { usage, choices } = await completionOf(tenant.apiKey, model, pdfDocument(PAGES));
    expect(choices[0]?.message.content).toEqual(expect.any(String));
    expect(usage?.prompt_tokens).toBeGreaterThanOrEqual(PAGES * TOKENS_PER_PAGE);
  });

  it('is read by a response', async () => {
    const { usage } = await testEnv.client(tenant.apiKey).responses.create({
      model,
      max_output_tokens: 50,
      input: [
        {
          role: 'user',
          content: [
            { type: 'input_text', text: QUESTION },
            { type: 'input_file', filename: 'report.pdf', file_data: uri(pdfDocument(PAGES)) },
          ],
        },
      ],
    });
    expect(usage?.input_tokens).toBeGreaterThanOrEqual(PAGES * TOKENS_PER_PAGE);
  });

  it('is read by a message', async () => {
    const client = new Anthropic({
      ...{ baseURL: new URL(testEnv.gateway.baseUrl).origin, authToken: tenant.apiKey },
      ...{ apiKey: null, maxRetries: 0 },
    });
    const data = pdfDocument(PAGES).toString('base64');
    const { usage } = await client.messages.create({
      model,
      max_tokens: 50,
      messages: [
        {
          role: 'user',
          content: [
            { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data } },
            { type: 'text', text: QUESTION },
          ],
        },
      ],
    });
    // Some emulated providers cache the beginning of the prompt.
    const cached = (usage.cache_read_input_tokens ?? 0) + (usage.cache_creation_input_tokens ?? 0);
    const input = usage.input_tokens + cached;
    expect(input).toBeGreaterThanOrEqual(PAGES * TOKENS_PER_PAGE);
  });
});

describe('a hostile PDF document', () => {
  it.each(Object.keys(hostilePdfDocuments))('is refused and costs nothing: %s', async (name) => {
    const { apiKey } = await testEnv.tenant();
    const pdf = hostilePdfDocuments[name]?.() ?? Buffer.alloc(0);
    await expect(completionOf(apiKey, 'demo/vision', pdf)).rejects.toMatchObject({
      status: 400,
      code: 'invalid_request',
      param: 'messages[0].content[1].file.file_data',
    });
    await nothingReserved(testEnv.gateway.baseUrl, apiKey);
  });

  it('is refused for a model that cannot read documents', async () => {
    const { apiKey } = await testEnv.tenant();
    await expect(completionOf(apiKey, 'demo/standard', pdfDocument())).rejects.toMatchObject({
      status: 400,
      code: 'invalid_request',
      param: 'messages[0].content[1]',
    });
  });
});
