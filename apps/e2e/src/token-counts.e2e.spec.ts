import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { createScratchDirectory } from '@gateway/test-support';
import { startTestEnv, type TestEnv } from './testing/test-env';

jest.setTimeout(60_000);

/** What a request has beside its one text: three tokens for the message, three for the start of the reply. */
const OVERHEAD_TOKENS = 6;
/** Unlike 1, so that it shows whether both apply it. */
const FACTOR = 1.5;

const TEXTS = [
  'Hello',
  'The gateway holds the worst case before the model runs, and settles what it came to. '.repeat(40).trim(),
  'aaaaaaaa'.repeat(1_000),
  '\u2500'.repeat(2_000),
  '\u4e00\u4e8c\u4e09 \u0634\u0645\u0633 \u{1f600}\u{1f468}\u200d\u{1f469}'.repeat(300),
  '{"id":7,"name":"x"},\n'.repeat(500).trim(),
];

describe('a text', () => {
  let testEnv: TestEnv;
  let scratch: Awaited<ReturnType<typeof createScratchDirectory>>;

  beforeAll(async () => {
    scratch = await createScratchDirectory();
    const modelsFile = path.join(scratch.path, 'models.yaml');
    // The provider reports no usage: the prompt is what the edge estimates, the answer what the router counts.
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
    'of %d characters is as many tokens to the edge, as a prompt, as to the router, as an answer',
    async (_length, text) => {
      const client = testEnv.client((await testEnv.tenant()).apiKey);
      const ask = async (content: string) => {
        const { choices, usage } = await client.chat.completions.create({
          model: 'counted',
          messages: [{ role: 'user', content }],
        });
        return { content: choices[0]?.message.content, usage };
      };
      const said = await ask(`[[say:${text}]]`);
      expect(said.content).toBe(text);
      const asked = await ask(text);
      const prompt = asked.usage?.prompt_tokens ?? 0;
      const answer = said.usage?.completion_tokens ?? 0;
      // Each rounds up once, after the factor; the edge counts its overhead in before.
      expect(prompt - answer).toBe(OVERHEAD_TOKENS * FACTOR);
    },
  );
});
