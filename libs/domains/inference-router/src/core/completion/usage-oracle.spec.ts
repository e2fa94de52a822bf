import { costOfUsage, type Usage } from '@gateway/base';
import { eventFrame } from '../../testing/event-stream-frames';
import { recordingsOf, type Recording } from '../../testing/recordings/recordings';
import { oracleCost, oracleUsage, type OraclePrices } from '../../testing/usage-oracle';
import type { ReportedUsage } from '../dialects/dialect';
import { dialectNames, dialects } from '../dialects/registry';
import { UpstreamFailure } from '../failure/upstream-failure';
import { createEventParser } from '../framing/event-parser';
import { checkUsage } from '../generation/usage';
import { CompletionStream } from './completion-stream';
import { normalizedDecoder, normalizedResponse } from './normalize-response';

type Recorded = Pick<Recording, 'dialect' | 'name' | 'bytes'>;

/** Different for each kind, so that a token of another kind changes the cost. */
const prices: OraclePrices = {
  input: 3_000_000_007n,
  cached: 300_000_011n,
  written: 3_750_000_013n,
  written1h: 6_000_000_017n,
  image: 1_000_000_019n,
  output: 15_000_000_023n,
  reasoning: 12_000_000_029n,
};
const HEAD = { generationId: 'gen-1', createdUnixS: 1, modelId: 'acme/m-1' };
const NO_CALLS = { isIdInRequest: () => false };

function reportOfStream({ dialect: name, bytes }: Recorded): ReportedUsage | undefined {
  const dialect = dialects[name];
  const stream = new CompletionStream({
    head: HEAD,
    n: 1,
    includeUsage: true,
    decoder: normalizedDecoder(dialect.createDecoder(1), NO_CALLS),
    signer: undefined,
    failureOf: ({ message }) => new UpstreamFailure('failed', { detail: message }),
  });
  const parser = createEventParser(dialect.framing);
  for (const event of [...parser.push(bytes), ...parser.end()]) if (!stream.done) stream.push(event);
  return stream.reportedUsage;
}

function reportOfResponse({ dialect, bytes }: Recorded): ReportedUsage | undefined {
  const read = dialects[dialect].readResponse(JSON.parse(bytes.toString()) as never, 1);
  return normalizedResponse(read, NO_CALLS).usage;
}

/** The usage that is charged for a request whose estimate fits the report. */
function charged(report: ReportedUsage | undefined): { usage: Usage; cost: bigint } {
  const promptTokens = report?.promptTokens ?? 0;
  const checked = checkUsage(report, {
    input: { estimatedInputTokens: promptTokens, estimatedImageTokens: promptTokens, images: 100 } as never,
    maxCompletionTokens: 1_000_000,
    completions: 1,
    contextLength: 10_000_000,
    isCut: false,
    producedOutput: false,
  });
  if (checked.kind !== 'accepted') throw new Error(`${checked.kind}: ${JSON.stringify(report)}`);
  const cost = costOfUsage(checked.usage, {
    inputNanoUsdPerMillion: prices.input,
    cachedInputNanoUsdPerMillion: prices.cached,
    cacheWriteNanoUsdPerMillion: prices.written,
    cacheWrite1hNanoUsdPerMillion: prices.written1h,
    imageNanoUsdPerMillion: prices.image,
    outputNanoUsdPerMillion: prices.output,
    reasoningNanoUsdPerMillion: prices.reasoning,
    tiers: [],
  });
  return { usage: checked.usage, cost };
}

function expectAsOracle(recorded: Recorded, report: ReportedUsage | undefined): void {
  const usage = oracleUsage(recorded.dialect, recorded.bytes);
  if (!usage || usage.promptTokens === 0) {
    expect(report?.promptTokens ?? 0).toBe(0);
    return;
  }
  if (report?.completionTokens === undefined) {
    // Output that is not reported, or follows the report, is counted by the router.
    expect(report?.promptTokens).toBe(usage.promptTokens);
    return;
  }
  expect(charged(report)).toEqual({ usage, cost: oracleCost(usage, prices) });
}

const sse = (...events: readonly object[]) =>
  Buffer.from(events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(''));
const delta = (choice: object, usage?: object) => ({
  choices: [{ index: 0, ...choice }],
  ...(usage ? { usage } : {}),
});
const openaiUsage = {
  prompt_tokens: 100,
  completion_tokens: 20,
  total_tokens: 127,
  prompt_tokens_details: { cached_tokens: 40, cache_write_tokens: 9, image_tokens: 11 },
  completion_tokens_details: { reasoning_tokens: 7 },
};
const end = { finish_reason: 'stop', delta: {} };
const geminiPart = { content: { role: 'model', parts: [{ text: 'a' }] } };

/** Every kind of token, and later reports that are zero or lack a count. */
const written: readonly Recorded[] = [
  {
    dialect: 'openai',
    name: 'zeros after the counts',
    bytes: sse(delta({ delta: { content: 'a' } }), delta(end, openaiUsage), {
      choices: [],
      usage: {
        prompt_tokens: 0,
        completion_tokens: 0,
        total_tokens: 0,
        prompt_tokens_details: { cached_tokens: 0 },
      },
    }),
  },
  {
    dialect: 'anthropic',
    name: 'writes of both lifetimes, then zeros',
    bytes: sse(
      {
        type: 'message_start',
        message: {
          usage: {
            input_tokens: 10,
            cache_read_input_tokens: 40,
            cache_creation_input_tokens: 30,
            cache_creation: { ephemeral_5m_input_tokens: 10, ephemeral_1h_input_tokens: 20 },
            output_tokens: 3,
          },
        },
      },
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'a' } },
      {
        type: 'message_delta',
        delta: { stop_reason: 'end_turn' },
        usage: {
          input_tokens: 0,
          cache_read_input_tokens: 0,
          cache_creation_input_tokens: 0,
          output_tokens: 20,
          output_tokens_details: { thinking_tokens: 5 },
        },
      },
      { type: 'message_stop' },
    ),
  },
  {
    dialect: 'gemini',
    name: 'thoughts, cached images and a last report without them',
    bytes: sse(
      {
        candidates: [geminiPart],
        usageMetadata: {
          promptTokenCount: 100,
          toolUsePromptTokenCount: 5,
          cachedContentTokenCount: 40,
          candidatesTokenCount: 20,
          thoughtsTokenCount: 7,
          promptTokensDetails: [{ modality: 'IMAGE', tokenCount: 30 }],
          cacheTokensDetails: [{ modality: 'IMAGE', tokenCount: 10 }],
        },
      },
      {
        candidates: [{ ...geminiPart, finishReason: 'STOP' }],
        usageMetadata: { promptTokenCount: 100, candidatesTokenCount: 21 },
      },
    ),
  },
  {
    dialect: 'converse',
    name: 'writes of both lifetimes',
    bytes: Buffer.concat([
      eventFrame('contentBlockDelta', { contentBlockIndex: 0, delta: { text: 'a' } }),
      eventFrame('messageStop', { stopReason: 'end_turn' }),
      eventFrame('metadata', {
        usage: {
          inputTokens: 10,
          outputTokens: 20,
          cacheReadInputTokens: 40,
          cacheWriteInputTokens: 30,
          cacheDetails: [
            { ttl: '5m', inputTokens: 10 },
            { ttl: '1h', inputTokens: 20 },
          ],
        },
      }),
    ]),
  },
];

it.each(written)('charges what an independent count yields: $dialect $name', (stream) => {
  expect(oracleUsage(stream.dialect, stream.bytes)?.cachedTokens).toBe(40);
  expectAsOracle(stream, reportOfStream(stream));
});

describe('charges for recordings what an independent count yields', () => {
  const successes = dialectNames.flatMap(recordingsOf).filter(({ status }) => status === 200);
  const streams = successes.filter(({ isStream }) => isStream);
  const responses = successes.filter(({ isStream }) => !isStream);

  it('of every kind of token that vendors report', () => {
    const all = successes.map(({ dialect, bytes }) => oracleUsage(dialect, bytes));
    for (const kind of [
      'promptTokens',
      'cachedTokens',
      'cacheWriteTokens',
      'completionTokens',
      'reasoningTokens',
    ] as const)
      expect(all.filter((usage) => (usage?.[kind] ?? 0) > 0).length).toBeGreaterThan(1);
  });

  it.each(streams)('$dialect $name, streamed', (stream) => {
    let report: ReportedUsage | undefined;
    try {
      report = reportOfStream(stream);
    } catch (error) {
      // A stream that the decoder refuses is counted by the router.
      expect(error).toBeInstanceOf(UpstreamFailure);
      return;
    }
    expectAsOracle(stream, report);
  });

  it.each(responses)('$dialect $name', (response) => {
    expectAsOracle(response, reportOfResponse(response));
  });
});
