import { contextLengthExceeded } from './errors';
import { sampleValue } from './json-schema';
import { between, createRandom, hashText, pick, type Random } from './random';
import type { ChatRequest, ToolDefinition } from './request';
import { appendSentences, phrase } from './text';
import { countTokens, splitIntoPieces, type Piece } from './tokens';

interface ToolCall {
  readonly id: string;
  readonly name: string;
  /** The arguments as JSON text, in the pieces they are streamed in. */
  readonly pieces: readonly Piece[];
}

type FinishReason = 'stop' | 'length' | 'tool_calls' | 'content_filter';

export interface Choice {
  readonly reasoning: readonly Piece[];
  readonly content: readonly Piece[];
  readonly toolCalls: readonly ToolCall[];
  readonly finishReason: FinishReason;
}

export interface Usage {
  readonly promptTokens: number;
  readonly cachedTokens: number;
  readonly completionTokens: number;
  readonly reasoningTokens: number;
}

/** A whole answer, decided before its first byte: the same request always gets the same one. */
export interface Answer {
  readonly id: string;
  readonly createdS: number;
  readonly modelName: string;
  readonly choices: readonly Choice[];
  readonly usage: Usage;
  /** Show reasoning as `reasoning_content`. */
  readonly showsReasoning: boolean;
  /** The number of alternatives to report per token; undefined: no logprobs. */
  readonly topLogprobs: number | undefined;
}

const TOOL_DEFINITION_OVERHEAD_TOKENS = 10;
const QUOTED_CHARACTERS = 60;

/** What the answer needs from outside the request. */
export interface AnswerContext {
  readonly id: string;
  readonly createdS: number;
  readonly seed: number;
  readonly cachedTokens: number;
}

/** Tokens of the whole prompt, tool definitions included. */
function countPrompt(request: ChatRequest): number {
  const tools =
    request.toolsText === '' ? 0 : countTokens(request.toolsText) + TOOL_DEFINITION_OVERHEAD_TOKENS;
  return request.prompt.tokens + tools;
}

/** Decides the whole answer. Throws a 400 when prompt and answer do not fit the model's window. */
export function composeAnswer(request: ChatRequest, context: AnswerContext): Answer {
  const promptTokens = countPrompt(request);
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
    const choice = composeChoice(
      request,
      createRandom(seed + index),
      limit,
      `${context.id.slice(-20)}${index}`,
    );
    choices.push(choice);
    const thought = sumTokens(choice.reasoning);
    reasoningTokens += thought;
    completionTokens += thought + sumTokens(choice.content);
    for (const call of choice.toolCalls) completionTokens += countTokens(call.name) + sumTokens(call.pieces);
  }
  return {
    id: context.id,
    createdS: context.createdS,
    modelName: request.modelName,
    choices,
    usage: { promptTokens, cachedTokens: context.cachedTokens, completionTokens, reasoningTokens },
    showsReasoning: request.model.showsReasoning,
    topLogprobs: request.logprobs ? request.topLogprobs : undefined,
  };
}

function sumTokens(pieces: readonly Piece[]): number {
  let total = 0;
  for (const piece of pieces) total += piece.tokens;
  return total;
}

function composeChoice(request: ChatRequest, random: Random, limit: number, idSuffix: string): Choice {
  const reasoning = takeTokens(composeReasoning(request, random), limit).pieces;
  const left = limit - sumTokens(reasoning);
  const definitions = chooseTools(request, random);
  if (definitions.length > 0) return callTools(definitions, random, reasoning, left, idSuffix);

  const whole = composeContent(request, random, left);
  const stopped = cutAtStop(whole, request.stop);
  const taken = takeTokens(stopped.pieces, left);
  const finishReason = taken.cut
    ? 'length'
    : request.directives.faults.contentFilter
      ? 'content_filter'
      : 'stop';
  return { reasoning, content: taken.pieces, toolCalls: [], finishReason };
}

/** The longest run of pieces within `limit` tokens, and whether anything was left behind. */
function takeTokens(pieces: readonly Piece[], limit: number): { pieces: readonly Piece[]; cut: boolean } {
  let total = 0;
  for (let index = 0; index < pieces.length; index++) {
    total += pieces[index]?.tokens ?? 0;
    if (total > limit) return { pieces: pieces.slice(0, index), cut: true };
  }
  return { pieces, cut: false };
}

/** Cuts before the first stop sequence, which may begin in the middle of a piece. */
function cutAtStop(pieces: readonly Piece[], stop: readonly string[]): { pieces: readonly Piece[] } {
  if (stop.length === 0) return { pieces };
  const text = pieces.map((piece) => piece.text).join('');
  const found = stop.map((one) => text.indexOf(one)).filter((at) => at >= 0);
  if (found.length === 0) return { pieces };
  let left = Math.min(...found);
  const kept: Piece[] = [];
  for (const piece of pieces) {
    if (left <= 0) break;
    kept.push(piece.text.length <= left ? piece : { text: piece.text.slice(0, left), tokens: piece.tokens });
    left -= piece.text.length;
  }
  return { pieces: kept };
}

function composeReasoning(request: ChatRequest, random: Random): Piece[] {
  const byEffort = request.model.reasoningTokens[request.reasoningEffort ?? ''] ?? 0;
  const pieces: Piece[] = [];
  appendSentences(pieces, request.directives.reasoning ?? byEffort, random);
  return pieces;
}

function composeContent(request: ChatRequest, random: Random, limit: number): readonly Piece[] {
  const { directives, responseFormat } = request;
  if (directives.faults.hugeBytes > 0) return [hugePiece(directives.faults.hugeBytes, limit)];
  if (directives.say !== undefined) return splitIntoPieces(directives.say);
  if (responseFormat.kind !== 'text') {
    const value =
      responseFormat.kind === 'json_schema'
        ? sampleValue(responseFormat.schema, random)
        : { question: quote(request.question), answer: phrase(random, 8), score: between(random, 1, 100) };
    return splitIntoPieces(JSON.stringify(value));
  }
  const pieces = splitIntoPieces(opening(request));
  const wanted = directives.tokens ?? sumTokens(pieces) + between(random, 24, 96);
  const begun = takeTokens(pieces, wanted).pieces.slice();
  appendSentences(begun, wanted - sumTokens(begun), random);
  return begun;
}

/** One piece of `bytes` bytes. Its tokens are kept within the limit, so that it is never cut away. */
function hugePiece(bytes: number, limit: number): Piece {
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
  const { images, endsWithToolResult } = request.prompt;
  if (endsWithToolResult) return 'The tool has answered, and this is what follows from it.';
  if (images.length > 0) {
    const sizes = images.map(({ width, height }) => `${width}x${height}`).join(', ');
    return `I see ${images.length} ${images.length === 1 ? 'image' : 'images'} of ${sizes} pixels.`;
  }
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

function callTools(
  definitions: readonly ToolDefinition[],
  random: Random,
  reasoning: readonly Piece[],
  limit: number,
  idSuffix: string,
): Choice {
  const toolCalls: ToolCall[] = [];
  let left = limit;
  for (const [index, { name, parameters }] of definitions.entries()) {
    left -= countTokens(name);
    if (left <= 0) return { reasoning, content: [], toolCalls, finishReason: 'length' };
    const whole = splitIntoPieces(JSON.stringify(sampleValue({ type: 'object', ...parameters }, random)));
    const taken = takeTokens(whole, left);
    toolCalls.push({ id: `call_${idSuffix}${index}`, name, pieces: taken.pieces });
    if (taken.cut) return { reasoning, content: [], toolCalls, finishReason: 'length' };
    left -= sumTokens(taken.pieces);
  }
  return { reasoning, content: [], toolCalls, finishReason: 'tool_calls' };
}
