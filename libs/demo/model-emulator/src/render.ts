import type { Completion, Choice, Usage } from './completion';
import type { UsageFault } from './faults';
import { createRandom, hashText } from './random';
import { joinText, type TextSegment } from './tokens';

const SYSTEM_FINGERPRINT = 'fp_emulator_1';

/** Caches the JSON of short, repeated texts; bounded, because clients choose the texts. */
const escaped = new Map<string, string>();
const MAX_ESCAPED = 2_000;

function quoteJson(text: string): string {
  const known = escaped.get(text);
  if (known !== undefined) return known;
  const json = JSON.stringify(text);
  if (escaped.size < MAX_ESCAPED && text.length < 32) escaped.set(text, json);
  return json;
}

/** The reported usage block; undefined with the fault `no-usage`. */
function renderUsage(usage: Usage, fault: UsageFault | undefined): string | undefined {
  if (fault?.kind === 'none') return undefined;
  const prompt = fault?.prompt ?? usage.promptTokens;
  const completion = fault?.completion ?? usage.completionTokens;
  return (
    `{"prompt_tokens":${prompt},"completion_tokens":${completion},"total_tokens":${prompt + completion},` +
    `"prompt_tokens_details":{"cached_tokens":${fault === undefined ? usage.cachedTokens : 0},` +
    `"cache_write_tokens":${fault === undefined ? usage.cacheWrite5mTokens : 0},"audio_tokens":0},` +
    `"completion_tokens_details":{"reasoning_tokens":${fault === undefined ? usage.reasoningTokens : 0},` +
    `"audio_tokens":0,"accepted_prediction_tokens":0,"rejected_prediction_tokens":0}}`
  );
}

function renderLogprobs(segments: readonly TextSegment[], top: number | undefined): string {
  if (top === undefined) return 'null';
  const content = segments.map(({ text }) => {
    const random = createRandom(hashText(text));
    const own = logprobOf(text, -random());
    const others = Array.from({ length: Math.max(0, top - 1) }, (_, index) =>
      logprobOf(`${text}${index + 1}`, -1 - index - random()),
    );
    return { ...own, top_logprobs: top > 0 ? [own, ...others] : [] };
  });
  return JSON.stringify({ content, refusal: null });
}

function logprobOf(token: string, logprob: number) {
  return { token, logprob: Math.round(logprob * 1e6) / 1e6, bytes: [...Buffer.from(token)] };
}

/** The `chat.completion` body. */
export function renderCompletion(completion: Completion, usageFault: UsageFault | undefined): string {
  const usage = renderUsage(completion.usage, usageFault);
  const choices = completion.choices
    .map((choice, index) => renderChoice(completion, choice, index))
    .join(',');
  return (
    `{"id":"${completion.id}","object":"chat.completion","created":${completion.createdS},` +
    `"model":${quoteJson(completion.modelName)},"choices":[${choices}],` +
    `${usage === undefined ? '' : `"usage":${usage},`}"service_tier":"default",` +
    `"system_fingerprint":"${SYSTEM_FINGERPRINT}"}`
  );
}

function renderChoice(completion: Completion, choice: Choice, index: number): string {
  const called = choice.toolCalls.length > 0;
  const content = called ? 'null' : JSON.stringify(joinText(choice.content));
  const reasoning =
    completion.showsReasoning && choice.reasoning.length > 0
      ? `,"reasoning_content":${JSON.stringify(joinText(choice.reasoning).trimStart())}`
      : '';
  const calls = choice.toolCalls.map(
    (call) =>
      `{"id":"${call.id}","type":"function","function":{"name":${quoteJson(call.name)},` +
      `"arguments":${JSON.stringify(joinText(call.segments))}}}`,
  );
  return (
    `{"index":${index},"message":{"role":"assistant","content":${content},"refusal":null,"annotations":[]` +
    `${reasoning}${called ? `,"tool_calls":[${calls.join(',')}]` : ''}},` +
    `"logprobs":${called ? 'null' : renderLogprobs(choice.content, completion.topLogprobs)},` +
    `"finish_reason":"${choice.finishReason}"}`
  );
}

/**
 * The `chat.completion.chunk` payloads in order, rendered on demand: a role chunk per choice,
 * the content chunks (choices take turns), a finish chunk per choice and, on request, the usage.
 */
export function* renderChunks(
  completion: Completion,
  includeUsage: boolean,
  usageFault: UsageFault | undefined,
): Generator<string, void, void> {
  const usageKey = includeUsage ? ',"usage":null' : '';
  const head =
    `{"id":"${completion.id}","object":"chat.completion.chunk","created":${completion.createdS},` +
    `"model":${quoteJson(completion.modelName)},"service_tier":"default",` +
    `"system_fingerprint":"${SYSTEM_FINGERPRINT}","choices":[`;
  const tail = `,"finish_reason":null}]${usageKey}}`;
  const turns: Generator<string, void, void>[] = [];
  for (const [index, choice] of completion.choices.entries()) {
    const opening = choice.toolCalls.length > 0 ? 'null' : '""';
    yield `${head}{"index":${index},"delta":{"role":"assistant","content":${opening},"refusal":null},"logprobs":null${tail}`;
    turns.push(renderDeltas(completion, choice, `${head}{"index":${index},"delta":{`, tail));
  }
  const [only] = turns;
  if (turns.length === 1 && only !== undefined) yield* only;
  else yield* interleave(turns);
  for (const [index, choice] of completion.choices.entries()) {
    yield `${head}{"index":${index},"delta":{},"logprobs":null,"finish_reason":"${choice.finishReason}"}]${usageKey}}`;
  }
  const usage = includeUsage ? renderUsage(completion.usage, usageFault) : undefined;
  if (usage !== undefined) yield `${head}],"usage":${usage}}`;
}

function* interleave(turns: Generator<string, void, void>[]): Generator<string, void, void> {
  let running = turns;
  while (running.length > 0) {
    const next: Generator<string, void, void>[] = [];
    for (const turn of running) {
      const step = turn.next();
      if (step.done === true) continue;
      yield step.value;
      next.push(turn);
    }
    running = next;
  }
}

function* renderDeltas(
  completion: Completion,
  choice: Choice,
  prefix: string,
  tail: string,
): Generator<string, void, void> {
  const suffix = `},"logprobs":null${tail}`;
  if (completion.showsReasoning) {
    for (const { text } of choice.reasoning) yield `${prefix}"reasoning_content":${quoteJson(text)}${suffix}`;
  }
  for (const segment of choice.content) {
    yield completion.topLogprobs === undefined
      ? `${prefix}"content":${quoteJson(segment.text)}${suffix}`
      : `${prefix}"content":${quoteJson(segment.text)}},"logprobs":${renderLogprobs([segment], completion.topLogprobs)}${tail}`;
  }
  for (const [index, call] of choice.toolCalls.entries()) {
    yield `${prefix}"tool_calls":[{"index":${index},"id":"${call.id}","type":"function","function":{"name":${quoteJson(call.name)},"arguments":""}}]${suffix}`;
    for (const { text } of call.segments) {
      yield `${prefix}"tool_calls":[{"index":${index},"function":{"arguments":${quoteJson(text)}}}]${suffix}`;
    }
  }
}
