import { contextLengthExceeded } from './errors';
import { sampleValue } from './json-schema';
import { NO_CACHE_USE, type CacheUse } from './prefix-cache';
import { between, createRandom, hashText, pick, type Random } from './random';
import type { ChatRequest, RequestedEmbeddings, ToolDefinition } from './request';
import { appendSentences, phrase } from './text';
import { countTokens, joinText, splitIntoSegments, type TextSegment } from './tokens';

interface ToolCall {
  readonly id: string;
  readonly name: string;
  /** The arguments as JSON text, in the segments of the stream. */
  readonly segments: readonly TextSegment[];
}

/** The arguments of a call as an object; empty when the output limit cut them off. */
export function argumentsOf({ segments }: Pick<ToolCall, 'segments'>): unknown {
  try {
    return JSON.parse(joinText(segments));
  } catch {
    return {};
  }
}

type FinishReason = 'stop' | 'length' | 'tool_calls' | 'content_filter';

export interface Choice {
  readonly reasoning: readonly TextSegment[];
  readonly content: readonly TextSegment[];
  readonly toolCalls: readonly ToolCall[];
  readonly finishReason: FinishReason;
  /** The stop sequence of the request that ended it. */
  readonly stopSequence?: string | undefined;
}

interface Embedding {
  readonly values: readonly number[];
  /** As a provider with OpenAI's protocol encodes it. */
  readonly encoding: 'float' | 'base64';
  /** The tokens of the input. */
  readonly tokens: number;
}

export interface Usage extends CacheUse {
  readonly promptTokens: number;
  readonly completionTokens: number;
  readonly reasoningTokens: number;
}

/** A complete response, composed before its first byte: equal requests get equal ones. */
export interface Completion {
  readonly id: string;
  readonly createdS: number;
  readonly modelName: string;
  readonly choices: readonly Choice[];
  readonly usage: Usage;
  /** In place of choices, of a request for embeddings. */
  readonly embeddings?: readonly Embedding[];
  /** Return reasoning as `reasoning_content`. */
  readonly showsReasoning: boolean;
  /** The number of alternatives to report per token; undefined: no logprobs. */
  readonly topLogprobs: number | undefined;
}

const TOOL_DEFINITION_OVERHEAD_TOKENS = 10;
const QUOTED_CHARACTERS = 60;

/** The inputs of a completion other than the request. */
export interface CompletionContext {
  readonly id: string;
  readonly createdS: number;
  readonly seed: number;
  readonly cache: CacheUse;
  /** Calls that the model makes, instead of those it would choose. */
  readonly calls?: readonly ScriptedCall[] | undefined;
}

/** A tool call that a test prescribes. */
export interface ScriptedCall {
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
}

/** Tokens of the whole prompt, including tool definitions. */
function countPrompt(request: ChatRequest): number {
  const tools =
    request.toolsText === '' ? 0 : countTokens(request.toolsText) + TOOL_DEFINITION_OVERHEAD_TOKENS;
  return request.prompt.tokens + tools;
}

/** Composes the complete response. Throws a 400 when prompt and output exceed the context window. */
export function composeCompletion(request: ChatRequest, context: CompletionContext): Completion {
  const promptTokens = countPrompt(request);
  if (request.embeddings) return composeEmbeddings(request, request.embeddings, context, promptTokens);
  const room = request.model.contextWindow - promptTokens;
  if (room < (request.maxTokens ?? 1)) {
    throw contextLengthExceeded(request.model.contextWindow, promptTokens, request.maxTokens ?? 0);
  }
  const limit = Math.min(request.maxTokens ?? request.model.maxOutput, room);
  let seed = hashText(request.model.id, context.seed ^ request.seed);
  for (const part of request.prompt.parts) seed = hashText(part.text, seed);

  const choices: Choice[] = [];
  let completionTokens = 0;
  let reasoningTokens = 0;
  for (let index = 0; index < request.n; index++) {
    const random = createRandom(seed + index);
    const calls = context.calls ?? chooseCalls(request, random);
    const choice = composeChoice(request, random, limit, calls, `${context.id.slice(-20)}${index}`);
    choices.push(choice);
    const choiceReasoningTokens = sumTokens(choice.reasoning);
    reasoningTokens += choiceReasoningTokens;
    completionTokens += choiceReasoningTokens + sumTokens(choice.content);
    for (const call of choice.toolCalls)
      completionTokens += countTokens(call.name) + sumTokens(call.segments);
  }
  return {
    id: context.id,
    createdS: context.createdS,
    modelName: request.modelName,
    choices,
    usage: { promptTokens, ...context.cache, completionTokens, reasoningTokens },
    showsReasoning: request.model.showsReasoning,
    topLogprobs: request.logprobs ? request.topLogprobs : undefined,
  };
}

function composeEmbeddings(
  { modelName, model, prompt }: ChatRequest,
  { dimensions, encoding }: RequestedEmbeddings,
  { id, createdS }: CompletionContext,
  promptTokens: number,
): Completion {
  return {
    id,
    createdS,
    modelName,
    choices: [],
    showsReasoning: false,
    topLogprobs: undefined,
    usage: { promptTokens, ...NO_CACHE_USE, completionTokens: 0, reasoningTokens: 0 },
    embeddings: prompt.parts.map(({ text, tokens }) => {
      const random = createRandom(hashText(text, hashText(model.id)));
      // 32-bit floats, as models compute them.
      const next = () => Math.fround((random() * 2 - 1) / Math.sqrt(dimensions));
      return { values: Array.from({ length: dimensions }, next), encoding, tokens };
    }),
  };
}

function sumTokens(segments: readonly TextSegment[]): number {
  let total = 0;
  for (const segment of segments) total += segment.tokens;
  return total;
}

function composeChoice(
  request: ChatRequest,
  random: Random,
  limit: number,
  calls: readonly ScriptedCall[],
  idSuffix: string,
): Choice {
  const reasoning = takeTokens(composeReasoning(request, random), limit).segments;
  const left = limit - sumTokens(reasoning);
  if (calls.length > 0) return callTools(calls, reasoning, left, idSuffix);

  const full = composeContent(request, random, left);
  const stopped = cutAtStop(full, request.stop);
  const limited = takeTokens(stopped.segments, left);
  const finishReason = limited.cut
    ? 'length'
    : request.directives.faults.contentFilter
      ? 'content_filter'
      : 'stop';
  const stopSequence = finishReason === 'stop' ? stopped.stopSequence : undefined;
  return { reasoning, content: limited.segments, toolCalls: [], finishReason, stopSequence };
}

/** The first segments within `limit` tokens, and whether others were cut off. */
function takeTokens(
  segments: readonly TextSegment[],
  limit: number,
): { segments: readonly TextSegment[]; cut: boolean } {
  let total = 0;
  for (let index = 0; index < segments.length; index++) {
    total += segments[index]?.tokens ?? 0;
    if (total > limit) return { segments: segments.slice(0, index), cut: true };
  }
  return { segments, cut: false };
}

/** Cuts before the first stop sequence, which may start within a segment. */
function cutAtStop(
  segments: readonly TextSegment[],
  stop: readonly string[],
): { segments: readonly TextSegment[]; stopSequence?: string } {
  if (stop.length === 0) return { segments };
  const text = segments.map((segment) => segment.text).join('');
  const [stopSequence] = stop
    .filter((one) => text.includes(one))
    .sort((one, other) => text.indexOf(one) - text.indexOf(other));
  if (stopSequence === undefined) return { segments };
  let left = text.indexOf(stopSequence);
  const kept: TextSegment[] = [];
  for (const segment of segments) {
    if (left <= 0) break;
    kept.push(
      segment.text.length <= left ? segment : { text: segment.text.slice(0, left), tokens: segment.tokens },
    );
    left -= segment.text.length;
  }
  return { segments: kept, stopSequence };
}

function composeReasoning(request: ChatRequest, random: Random): TextSegment[] {
  const byEffort = request.model.reasoningTokens[request.reasoningEffort ?? ''] ?? 0;
  const segments: TextSegment[] = [];
  appendSentences(segments, request.directives.reasoning ?? byEffort, random);
  return segments;
}

function composeContent(request: ChatRequest, random: Random, limit: number): readonly TextSegment[] {
  const { directives, responseFormat } = request;
  if (directives.faults.hugeBytes > 0) return [hugeSegment(directives.faults.hugeBytes, limit)];
  if (directives.say !== undefined) return splitIntoSegments(directives.say);
  if (responseFormat.kind !== 'text') {
    const value =
      responseFormat.kind === 'json_schema'
        ? sampleValue(responseFormat.schema, random)
        : { question: quote(request.question), response: phrase(random, 8), score: between(random, 1, 100) };
    return splitIntoSegments(JSON.stringify(value));
  }
  const segments = splitIntoSegments(opening(request));
  const targetTokens = directives.tokens ?? sumTokens(segments) + between(random, 24, 96);
  const content = takeTokens(segments, targetTokens).segments.slice();
  appendSentences(content, targetTokens - sumTokens(content), random);
  return content;
}

/** One segment of `bytes` bytes. Its tokens are capped at the limit, so that it is never cut off. */
function hugeSegment(bytes: number, limit: number): TextSegment {
  return {
    text: ' a'.repeat(Math.ceil(bytes / 2)).slice(0, bytes),
    tokens: Math.min(Math.ceil(bytes / 2), limit),
  };
}

function quote(question: string): string {
  const flat = question
    .slice(0, QUOTED_CHARACTERS * 4)
    .replace(/\s+/g, ' ')
    .trim();
  return flat.length <= QUOTED_CHARACTERS ? flat : `${flat.slice(0, QUOTED_CHARACTERS).trimEnd()}…`;
}

function opening(request: ChatRequest): string {
  const { images, pages, endsWithToolResult } = request.prompt;
  if (endsWithToolResult) return 'The tool returned a result, and this text is based on it.';
  if (images.length > 0) {
    const sizes = images.map(({ width, height }) => `${width}x${height}`).join(', ');
    return `I see ${images.length} ${images.length === 1 ? 'image' : 'images'} of ${sizes} pixels.`;
  }
  if (pages > 0) return `I read ${pages} ${pages === 1 ? 'page' : 'pages'}.`;
  const quoted = quote(request.question);
  return quoted === '' ? 'Hello.' : `You said: “${quoted}”.`;
}

function chooseTools(request: ChatRequest, random: Random): readonly ToolDefinition[] {
  const { tools, toolChoice, directives } = request;
  if (tools.length === 0 || toolChoice.kind === 'none' || directives.calls === 0) return [];
  if (toolChoice.kind === 'function')
    return tools.filter((tool) => tool.name === toolChoice.name).slice(0, 1);
  if (toolChoice.kind === 'auto' && request.prompt.endsWithToolResult) return [];
  const count = request.parallelToolCalls ? (directives.calls ?? 1) : 1;
  const named = tools.find((tool) => request.question.includes(tool.name));
  return Array.from({ length: count }, (_, index) =>
    index === 0 && named !== undefined ? named : pick(random, tools),
  );
}

function chooseCalls(request: ChatRequest, random: Random): readonly ScriptedCall[] {
  return chooseTools(request, random).map(({ name, parameters }) => ({
    name,
    arguments: sampleValue({ type: 'object', ...parameters }, random) as ScriptedCall['arguments'],
  }));
}

function callTools(
  calls: readonly ScriptedCall[],
  reasoning: readonly TextSegment[],
  limit: number,
  idSuffix: string,
): Choice {
  const toolCalls: ToolCall[] = [];
  let left = limit;
  for (const [index, call] of calls.entries()) {
    const { name } = call;
    left -= countTokens(name);
    if (left <= 0) return { reasoning, content: [], toolCalls, finishReason: 'length' };
    const full = splitIntoSegments(JSON.stringify(call.arguments));
    const taken = takeTokens(full, left);
    toolCalls.push({ id: `call_${idSuffix}${index}`, name, segments: taken.segments });
    if (taken.cut) return { reasoning, content: [], toolCalls, finishReason: 'length' };
    left -= sumTokens(taken.segments);
  }
  return { reasoning, content: [], toolCalls, finishReason: 'tool_calls' };
}
