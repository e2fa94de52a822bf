import {
  emptyChoice,
  readSystemFingerprint,
  type Choice,
  type CompletionHead,
  type Logprobs,
} from './completion';
import { failureIn } from './failed-choice';
import { finishReasonOf, type FinishReason } from './finish-reason';
import { FastDelta } from './fast-delta';
import { asObject, parseJson, type JsonObject } from './json';
import {
  MAX_TOOL_CALLS,
  readLogprobs,
  readContent,
  readReasoning,
  readText,
  readToolCalls,
} from './read-message';
import { createToolCallId } from './read-completion';
import { UpstreamFailure } from '../failure/upstream-failure';

/** The maximum text of one generation, in characters. */
const MAX_OUTPUT_CHARACTERS = 16 * 1024 * 1024;

const CHARACTERS_PER_TOKEN = 4;

const NONE: readonly number[] = [];

export interface CompletionStreamOptions {
  readonly head: CompletionHead;
  /** Requested completions. Choices with a higher index are dropped. */
  readonly n: number;
  /** stream_options.include_usage: every chunk but the last has `"usage":null`. */
  readonly includeUsage: boolean;
  /** Maps an error object in a chunk or choice. */
  readonly errorOf: (holder: unknown) => UpstreamFailure | undefined;
}

/**
 * Normalizes a provider's chunks and accumulates the completions. Pure: takes one
 * data payload and returns the server-sent events for the client.
 */
export class CompletionStream {
  /** `[DONE]` was seen. */
  done = false;
  /** The provider's usage block, unchecked. */
  reportedUsage: unknown;
  /** The provider's first valid fingerprint, added to every later chunk. */
  systemFingerprint: string | undefined;

  private readonly byIndex = new Map<number, Choice>();
  private readonly fast: FastDelta;
  private prefix: string;
  private readonly suffix: string;
  private deltas = 0;
  private characters = 0;

  constructor(private readonly options: CompletionStreamOptions) {
    this.prefix = chunkPrefix(options.head);
    this.suffix = options.includeUsage ? '],"usage":null}\n\n' : ']}\n\n';
    this.fast = new FastDelta(this.suffix);
  }

  /** In order of index. Includes the pending text of the fast path. */
  get choices(): Choice[] {
    this.flushFastText();
    return [...this.byIndex.values()].sort((a, b) => a.index - b.index);
  }

  /** Every requested completion has a finish_reason. */
  get complete(): boolean {
    if (this.byIndex.size < this.options.n) return false;
    for (const choice of this.byIndex.values()) if (choice.finishReason === undefined) return false;
    return true;
  }

  /** The indexes of those that have a finish_reason, when several were requested. */
  get finishedChoices(): readonly number[] {
    if (this.options.n === 1) return NONE;
    const all = [...this.byIndex.values()];
    return all.filter(({ finishReason }) => finishReason !== undefined).map(({ index }) => index);
  }

  get started(): boolean {
    return this.byIndex.size > 0;
  }

  /** A lower bound, for progress: one token per delta, or one per four characters. */
  get completionTokens(): number {
    return Math.max(this.deltas, Math.ceil(this.characters / CHARACTERS_PER_TOKEN));
  }

  /**
   * @returns the events for the client; empty when the payload has nothing for it.
   * @throws UpstreamFailure for an error object, or for a payload that is not a chunk.
   */
  push(data: string): string {
    const quick = this.fast.match(data);
    if (quick !== undefined) {
      this.grow(quick.characters);
      return quick.frame;
    }
    if (data.startsWith('[DONE]')) {
      this.done = true;
      return '';
    }
    const chunk = asObject(parseJson(data));
    if (!chunk) throw malformed('a chunk that is not a JSON object');
    const error = this.options.errorOf(chunk);
    if (error) throw error;
    if (asObject(chunk['usage'])) this.reportedUsage = chunk['usage'];
    if (this.systemFingerprint === undefined) this.setFingerprint(chunk['system_fingerprint']);
    const listed = chunk['choices'];
    if (!Array.isArray(listed)) {
      if (asObject(chunk['usage'])) return '';
      throw malformed('a chunk without choices');
    }
    this.flushFastText();
    return this.pushChoices(listed, data);
  }

  /** Finishes completions without a finish_reason, after `[DONE]`. */
  closeOpenChoices(): string {
    const parts: string[] = [];
    for (const choice of this.choices) {
      if (choice.finishReason !== undefined) continue;
      choice.finishReason = choice.toolCalls.length > 0 ? 'tool_calls' : 'stop';
      parts.push(this.renderDelta(choice.index, {}, null, choice.finishReason));
    }
    return parts.length === 0 ? '' : `${this.prefix}${parts.join(',')}${this.suffix}`;
  }

  /** The last chunk, for clients that requested usage. */
  usageChunk(usage: object): string {
    return `${this.prefix}],"usage":${JSON.stringify(usage)}}\n\n`;
  }

  private pushChoices(listed: readonly unknown[], data: string): string {
    const parts: string[] = [];
    for (const value of listed) {
      const part = this.pushChoice(value);
      if (part !== '') parts.push(part);
    }
    if (parts.length === 0) return '';
    if (listed.length === 1) this.learn(listed[0], data);
    return `${this.prefix}${parts.join(',')}${this.suffix}`;
  }

  private pushChoice(value: unknown): string {
    const read = asObject(value);
    if (!read) throw malformed('a choice that is not an object');
    const index = read['index'] ?? 0;
    if (typeof index !== 'number' || !Number.isInteger(index) || index < 0) {
      throw malformed('a choice with a wrong index');
    }
    if (index >= this.options.n) return '';
    const failure = failureIn(read, this.options.errorOf);
    if (failure) throw failure;
    let choice = this.byIndex.get(index);
    const first = choice === undefined;
    if (!choice) {
      choice = emptyChoice(index);
      this.byIndex.set(index, choice);
    }
    const delta = asObject(read['delta']) ?? asObject(read['message']) ?? {};
    const rendered = this.applyDelta(choice, delta, first);
    const logprobs = readLogprobs(read);
    if (logprobs) addLogprobs(choice, logprobs);
    const finish = finishReasonOf(read['finish_reason']);
    if (finish !== undefined) choice.finishReason = finish;
    if (!first && !rendered.hasOutput && logprobs === null && finish === undefined) return '';
    return this.renderDelta(index, rendered.delta, logprobs, finish);
  }

  private applyDelta(
    choice: Choice,
    delta: JsonObject,
    first: boolean,
  ): { delta: object; hasOutput: boolean } {
    const rendered: Record<string, unknown> = {};
    const content = readContent(delta['content']);
    const refusal = readText(delta['refusal']);
    const reasoning = readReasoning(delta);
    const toolCalls = readToolCalls(delta);
    if (first) {
      rendered['role'] = 'assistant';
      rendered['content'] = content ?? (toolCalls.length > 0 ? null : '');
    }
    if (content) {
      choice.content = (choice.content ?? '') + content;
      rendered['content'] = content;
      this.grow(content.length);
    }
    if (refusal) {
      choice.refusal = (choice.refusal ?? '') + refusal;
      rendered['refusal'] = refusal;
      this.grow(refusal.length);
    }
    if (reasoning) {
      choice.reasoning = (choice.reasoning ?? '') + reasoning;
      rendered['reasoning_content'] = reasoning;
      this.grow(reasoning.length);
    }
    const calls = toolCalls.flatMap((call) => this.applyToolCall(choice, call));
    if (calls.length > 0) rendered['tool_calls'] = calls;
    return { delta: rendered, hasOutput: Boolean(content || refusal || reasoning) || calls.length > 0 };
  }

  private applyToolCall(choice: Choice, call: ReturnType<typeof readToolCalls>[number]): object[] {
    const index = call.index ?? toolCallIndex(choice, call.id);
    if (index >= MAX_TOOL_CALLS) throw malformed('too many tool calls');
    this.grow(call.arguments.length);
    const known = choice.toolCalls[index];
    if (known) {
      // Some servers repeat the name in every delta; the client has it already.
      if (known.name === '' && call.name !== undefined) known.name = call.name;
      known.arguments += call.arguments;
      return call.arguments === '' ? [] : [{ index, function: { arguments: call.arguments } }];
    }
    if (index !== choice.toolCalls.length) throw malformed('a tool call out of order');
    const newCall = {
      id: call.id ?? createToolCallId(this.options.head, choice.index, index),
      name: call.name ?? '',
      arguments: call.arguments,
    };
    choice.toolCalls.push(newCall);
    this.grow(newCall.name.length);
    return [
      {
        index,
        id: newCall.id,
        type: 'function',
        function: { name: newCall.name, arguments: newCall.arguments },
      },
    ];
  }

  private renderDelta(
    index: number,
    delta: object,
    logprobs: object | null,
    finish: FinishReason | undefined,
  ): string {
    const reason = finish === undefined ? 'null' : `"${finish}"`;
    return `{"index":${index},"delta":${JSON.stringify(delta)},"logprobs":${logprobs === null ? 'null' : JSON.stringify(logprobs)},"finish_reason":${reason}}`;
  }

  private setFingerprint(value: unknown): void {
    this.systemFingerprint = readSystemFingerprint(value);
    if (this.systemFingerprint !== undefined) {
      this.prefix = chunkPrefix(this.options.head, this.systemFingerprint);
    }
  }

  private grow(characters: number): void {
    if (characters > 0) this.deltas += 1;
    this.characters += characters;
    if (this.characters > MAX_OUTPUT_CHARACTERS)
      throw malformed(`more than ${MAX_OUTPUT_CHARACTERS} characters of text`);
  }

  private learn(value: unknown, data: string): void {
    const choice = asObject(value) ?? {};
    const index = (choice['index'] ?? 0) as number;
    if (index < this.options.n && this.byIndex.get(index)?.finishReason === undefined) {
      this.fast.learn(data, index, this.prefix);
    }
  }

  private flushFastText(): void {
    for (const { index, text } of this.fast.take()) {
      const choice = this.byIndex.get(index);
      if (choice) choice.content = (choice.content ?? '') + text;
    }
  }
}

/** The start of every chunk, up to its choices. */
function chunkPrefix(head: CompletionHead, systemFingerprint?: string): string {
  const { generationId, createdUnixS, modelId } = head;
  const fingerprint =
    systemFingerprint === undefined ? '' : `,"system_fingerprint":${JSON.stringify(systemFingerprint)}`;
  return `data: {"id":${JSON.stringify(generationId)},"object":"chat.completion.chunk","created":${createdUnixS},"model":${JSON.stringify(modelId)}${fingerprint},"choices":[`;
}

/** The index of a tool call that has none: a new id adds a call; no id continues the last one. */
function toolCallIndex(choice: Choice, id: string | undefined): number {
  const { length } = choice.toolCalls;
  if (length === 0) return 0;
  if (id === undefined) return length - 1;
  const known = choice.toolCalls.findIndex((call) => call.id === id);
  return known === -1 ? length : known;
}

function addLogprobs(choice: Choice, more: Logprobs): void {
  const all = (choice.logprobs ??= { content: null, refusal: null });
  if (more.content) (all.content ??= []).push(...more.content);
  if (more.refusal) (all.refusal ??= []).push(...more.refusal);
}

function malformed(what: string): UpstreamFailure {
  return new UpstreamFailure('failed', { detail: `the provider sent ${what}` });
}
