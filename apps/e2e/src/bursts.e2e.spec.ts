import { pdfDocument, type Tenant } from '@gateway/test-support';
import { nothingReserved } from './testing/accounting';
import { modelsByDialect, writeModelsOfAllDialects } from './testing/dialect-models';
import { startTestEnv, type TestEnv } from './testing/test-env';

jest.setTimeout(180_000);

/** As many as each organization may run at the same time by default. */
const AT_ONCE = 64;

const { openai, anthropic } = modelsByDialect('vision');
const prompt = (index: number, words: number) => [{ role: 'user', content: `Word${index} `.repeat(words) }];
const document = (index: number) => [
  {
    role: 'user',
    content: [
      {
        type: 'file',
        file: {
          filename: 'report.pdf',
          file_data: `data:application/pdf;base64,${pdfDocument(1 + (index % 3)).toString('base64')}`,
        },
      },
    ],
  },
];

/** Requests that threads check, count or encode. */
const kinds: Record<string, (index: number) => object> = {
  'prompts that a thread counts': (index) => ({ model: openai, messages: prompt(index, 2_000) }),
  'bodies that threads check, count and encode': (index) => ({
    model: anthropic,
    messages: prompt(index, 40_000),
  }),
  'documents whose pages a thread counts': (index) => ({ model: openai, messages: document(index) }),
};

describe('as many requests at once as two organizations may run', () => {
  let testEnv: TestEnv;
  let tenants: readonly Tenant[];

  beforeAll(async () => {
    const { modelsFile, env } = writeModelsOfAllDialects();
    testEnv = await startTestEnv({ modelsFile, env });
    const credit = '10000';
    tenants = [await testEnv.tenant({ credit }), await testEnv.tenant({ credit })];
  });
  afterAll(() => testEnv?.stop());

  async function resultOf({ apiKey }: Tenant, body: object): Promise<string> {
    const response = await fetch(`${testEnv.gateway.baseUrl}/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ ...body, max_tokens: 5 }),
    });
    const text = await response.text();
    return response.ok ? 'ok' : text;
  }

  it.each(Object.entries(kinds))('all succeed: %s', async (_kind, body) => {
    // The second time, the counts are cached, so that all requests reach the next threads at once.
    for (let round = 0; round < 2; round += 1) {
      const sent = tenants.flatMap((tenant) =>
        Array.from({ length: AT_ONCE }, (_, index) => resultOf(tenant, body(index))),
      );
      expect((await Promise.all(sent)).filter((result) => result !== 'ok')).toEqual([]);
    }
    for (const { apiKey } of tenants) await nothingReserved(testEnv.gateway.baseUrl, apiKey);
  });
});
