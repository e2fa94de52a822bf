import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { createScratchDirectory } from '@gateway/test-support';
import { startTestEnv, type TestEnv } from './testing/test-env';

jest.setTimeout(60_000);

/** Tokens of a request in addition to its text: three for the message, three for the start of the reply. */
const OVERHEAD_TOKENS = 6;
/** Not 1, so that the test shows that both services apply it. */
const FACTOR = 1.5;

const TEXTS = [
  'Hello',
  'The gateway holds the worst case before the model runs, and settles what it came to. '.repeat(40).trim(),
  'aaaaaaaa'.repeat(1_000),
  '\u2500'.repeat(2_000),
  '\u4e00\u4e8c\u4e09 \u0634\u0645\u0633 \u{1f600}\u{1f468}\u200d\u{1f469}'.repeat(300),
  '{"id":7,"name":"x"},\n'.repeat(500).trim(),
];

describe('token counts of edge and router', () => {
  let testEnv: TestEnv;
  let scratch: Awaited<ReturnType<typeof createScratchDirectory>>;

  beforeAll(async () => {
    scratch = await createScratchDirectory();
    const modelsFile = path.join(scratch.path, 'models.yaml');
    // The provider reports no usage, so the edge counts the prompt and the router counts the completion.
    writeFileSync(
      modelsFile,
      `providers:
  - { name: emulator, base_url: '\${MODEL_EMULATOR_URL}' }
models:
  - id: counted
    targets: [{ provider: emulator, model: 'emu-standard+fault:no-usage' }]
    context_window: 131072
    max_output_tokens: 16384
    prices: { input: '0.10', output: '0.40' }
    tokenizer: { factor: ${FACTOR} }
`,
    );
    testEnv = await startTestEnv({ modelsFile });
  });

  afterAll(async () => {
    await testEnv?.stop();
    await scratch?.remove();
  });

  it.each(TEXTS.map((text) => [text.length, text]))(
    'agree on a text of %d characters, as prompt and as completion',
    async (_length, text) => {
      const client = testEnv.client((await testEnv.tenant()).apiKey);
      const complete = async (content: string) => {
        const { choices, usage } = await client.chat.completions.create({
          model: 'counted',
          messages: [{ role: 'user', content }],
        });
        return { content: choices[0]?.message.content, usage };
      };
      const asCompletion = await complete(`[[say:${text}]]`);
      expect(asCompletion.content).toBe(text);
      const asPrompt = await complete(text);
      const promptTokens = asPrompt.usage?.prompt_tokens ?? 0;
      const completionTokens = asCompletion.usage?.completion_tokens ?? 0;
      // Both round up once after applying the factor; the edge adds the overhead before.
      expect(promptTokens - completionTokens).toBe(OVERHEAD_TOKENS * FACTOR);
    },
  );
});
