import type { Answer, Choice, Usage } from './answer';
import type { UsageFault } from './faults';
import { createRandom, hashText } from './random';
import type { Piece } from './tokens';

const SYSTEM_FINGERPRINT = 'fp_emulator_1';

/** JSON of texts that repeat; bounded, because what callers say is not ours to keep. */
const escaped = new Map<string, string>();
const MAX_ESCAPED = 2_000;

function quoteJson(text: string): string {
  const known = escaped.get(text);
  if (known !== undefined) return known;
  const made = JSON.stringify(text);
  if (escaped.size < MAX_ESCAPED && text.length < 32) escaped.set(text, made);
  return made;
}

function joinText(pieces: readonly Piece[]): string {
  let text = '';
  for (const piece of pieces) text += piece.text;
  return text;
}

/** The usage block as the provider reports it; undefined when the fault leaves it out. */
function renderUsage(usage: Usage, fault: UsageFault | undefined): string | undefined {
  if (fault?.kind === 'none') return undefined;
  const prompt = fault?.prompt ?? usage.promptTokens;
  const completion = fault?.completion ?? usage.completionTokens;
  return (
    `{"prompt_tokens":${prompt},"completion_tokens":${completion},"total_tokens":${prompt + completion},` +
    `"prompt_tokens_details":{"cached_tokens":${fault === undefined ? usage.cachedTokens : 0},"audio_tokens":0},` +
    `"completion_tokens_details":{"reasoning_tokens":${fault === undefined ? usage.reasoningTokens : 0},` +
    `"audio_tokens":0,"accepted_prediction_tokens":0,"rejected_prediction_tokens":0}}`
  );
}

function renderLogprobs(pieces: readonly Piece[], top: number | undefined): string {
  if (top === undefined) return 'null';
  const content = pieces.map(({ text }) => {
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

/** The whole `chat.completion` body. */
export function renderCompletion(answer: Answer, usageFault: UsageFault | undefined): string {
  const usage = renderUsage(answer.usage, usageFault);
  const choices = answer.choices.map((choice, index) => renderChoice(answer, choice, index)).join(',');
  return (
    `{"id":"${answer.id}","object":"chat.completion","created":${answer.createdS},` +
    `"model":${quoteJson(answer.modelName)},"choices":[${choices}],` +
    `${usage === undefined ? '' : `"usage":${usage},`}"service_tier":"default",` +
    `"system_fingerprint":"${SYSTEM_FINGERPRINT}"}`
  );
}

function renderChoice(answer: Answer, choice: Choice, index: number): string {
  const called = choice.toolCalls.length > 0;
  const content = called ? 'null' : JSON.stringify(joinText(choice.content));
  const reasoning =
    answer.showsReasoning && choice.reasoning.length > 0
      ? `,"reasoning_content":${JSON.stringify(joinText(choice.reasoning).trimStart())}`
      : '';
  const calls = choice.toolCalls.map(
    (call) =>
      `{"id":"${call.id}","type":"function","function":{"name":${quoteJson(call.name)},` +
      `"arguments":${JSON.stringify(joinText(call.pieces))}}}`,
  );
  return (
    `{"index":${index},"message":{"role":"assistant","content":${content},"refusal":null,"annotations":[]` +
    `${reasoning}${called ? `,"tool_calls":[${calls.join(',')}]` : ''}},` +
    `"logprobs":${called ? 'null' : renderLogprobs(choice.content, answer.topLogprobs)},` +
    `"finish_reason":"${choice.finishReason}"}`
  );
}

/**
 * The `chat.completion.chunk` payloads in order, made as they are taken: a role chunk per choice,
 * the content chunks (choices take turns), a finish chunk per choice and, if asked for, the usage.
 */
export function* renderChunks(
  answer: Answer,
  includeUsage: boolean,
  usageFault: UsageFault | undefined,
): Generator<string, void, void> {
  const usageKey = includeUsage ? ',"usage":null' : '';
  const head =
    `{"id":"${answer.id}","object":"chat.completion.chunk","created":${answer.createdS},` +
    `"model":${quoteJson(answer.modelName)},"service_tier":"default",` +
    `"system_fingerprint":"${SYSTEM_FINGERPRINT}","choices":[`;
  const tail = `,"finish_reason":null}]${usageKey}}`;
  const turns: Generator<string, void, void>[] = [];
  for (const [index, choice] of answer.choices.entries()) {
    const opening = choice.toolCalls.length > 0 ? 'null' : '""';
    yield `${head}{"index":${index},"delta":{"role":"assistant","content":${opening},"refusal":null},"logprobs":null${tail}`;
    turns.push(renderDeltas(answer, choice, `${head}{"index":${index},"delta":{`, tail));
  }
  const [only] = turns;
  if (turns.length === 1 && only !== undefined) yield* only;
  else yield* takeTurns(turns);
  for (const [index, choice] of answer.choices.entries()) {
    yield `${head}{"index":${index},"delta":{},"logprobs":null,"finish_reason":"${choice.finishReason}"}]${usageKey}}`;
  }
  const usage = includeUsage ? renderUsage(answer.usage, usageFault) : undefined;
  if (usage !== undefined) yield `${head}],"usage":${usage}}`;
}

function* takeTurns(turns: Generator<string, void, void>[]): Generator<string, void, void> {
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
  answer: Answer,
  choice: Choice,
  prefix: string,
  tail: string,
): Generator<string, void, void> {
  const suffix = `},"logprobs":null${tail}`;
  if (answer.showsReasoning) {
    for (const { text } of choice.reasoning) yield `${prefix}"reasoning_content":${quoteJson(text)}${suffix}`;
  }
  for (const piece of choice.content) {
    yield answer.topLogprobs === undefined
      ? `${prefix}"content":${quoteJson(piece.text)}${suffix}`
      : `${prefix}"content":${quoteJson(piece.text)}},"logprobs":${renderLogprobs([piece], answer.topLogprobs)}${tail}`;
  }
  for (const [index, call] of choice.toolCalls.entries()) {
    yield `${prefix}"tool_calls":[{"index":${index},"id":"${call.id}","type":"function","function":{"name":${quoteJson(call.name)},"arguments":""}}]${suffix}`;
    for (const { text } of call.pieces) {
      yield `${prefix}"tool_calls":[{"index":${index},"function":{"arguments":${quoteJson(text)}}}]${suffix}`;
    }
  }
}
