import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { createScratchDirectory, type Tenant } from '@gateway/test-support';
import { scrape } from './testing/metrics';
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

/** Pseudo-random characters, the same in every run. */
function pseudoRandomText(length: number, first: number, count: number): string {
  let state = 99;
  let text = '';
  while (text.length < length) {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
    text += String.fromCharCode(first + ((state >>> 8) % count));
  }
  return text;
}

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
  - id: long
    targets: [{ provider: emulator, model: emu-long }]
    context_window: 1048576
    max_output_tokens: 131072
    prices: { input: '0.10', output: '0.40' }
`,
  );
  testEnv = await startTestEnv({ modelsFile });
});

afterAll(async () => {
  await testEnv?.stop();
  await scratch?.remove();
});

describe('token counts of edge and router', () => {
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

describe('text that is slow to tokenize', () => {
  let tenant: Tenant;

  beforeAll(async () => {
    tenant = await testEnv.tenant({ credit: '1000' });
  });

  /** Token counts so far by method, and the longest event loop lag since the last scrape. */
  async function readCounters() {
    const metrics = await scrape(testEnv.gateway);
    const countedBy = (method: string) => metrics.sum('gateway_tokenizer_counts_total', `method="${method}"`);
    return {
      counts: { inline: countedBy('inline'), worker: countedBy('worker'), estimated: countedBy('estimated') },
      lagMs: 1000 * metrics.sum('nodejs_eventloop_lag_max_seconds'),
    };
  }

  it.each<[string, string, 'inline' | 'worker' | 'estimated']>([
    ['a greeting', 'Hello', 'inline'],
    ['a short text of special tokens', '<|endoftext|>'.repeat(50), 'inline'],
    ['700 random ideographs', pseudoRandomText(700, 0x4e00, 20_000), 'inline'],
    ['2,500 random ideographs', pseudoRandomText(2_500, 0x4e00, 20_000), 'worker'],
    ['8,000 random ideographs', pseudoRandomText(8_000, 0x4e00, 20_000), 'worker'],
    ['200,000 times the character a', 'a'.repeat(200_000), 'worker'],
    ['20,000 special tokens', '<|endoftext|>'.repeat(20_000), 'worker'],
    ['a megabyte of random ASCII', pseudoRandomText(1_000_000, 97, 26), 'worker'],
    ['500,000 random ideographs', pseudoRandomText(500_000, 0x4e00, 20_000), 'worker'],
    ['three megabytes of one character', 'a'.repeat(3_000_000), 'estimated'],
  ])('%s is counted without blocking other requests', async (name, content, expected) => {
    const before = (await readCounters()).counts;
    let otherRequests = 0;
    let done = false;
    const pings = (async () => {
      while (!done) {
        const ping = () => fetch(`${testEnv.gateway.adminUrl}/livez`);
        // Retries once: the server may close an idle connection just as the client reuses it.
        expect((await ping().catch(ping)).status).toBe(200);
        otherRequests += 1;
      }
    })();
    const response = await fetch(`${testEnv.gateway.baseUrl}/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${tenant.apiKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'long', max_tokens: 5, messages: [{ role: 'user', content }] }),
    });
    done = true;
    await pings;
    expect([200, 400]).toContain(response.status);
    if (response.status === 400) {
      expect(await response.json()).toMatchObject({ error: { code: 'context_length_exceeded' } });
    }
    const { counts: after, lagMs } = await readCounters();
    expect({ ...after, [expected]: after[expected] - before[expected] }).toEqual({
      ...before,
      [expected]: 1,
    });
    console.info(
      `${name}: ${otherRequests} other requests during the count, maximum event loop lag ${lagMs.toFixed(0)} ms`,
    );
  });
});
