import type {
  ChoiceDelta,
  DecodedEvent,
  EventDecoder,
  EventTemplate,
  Logprobs,
  ProviderError,
  ReportedUsage,
  ToolCallDelta,
} from '../dialects/dialect';
import { isUnsigned, signedDetail, withSigner } from '../dialects/signatures';
import type { UpstreamFailure } from '../failure/upstream-failure';
import { malformed } from '../dialects/failures';
import {
  addReasoningDetail,
  createToolCallId,
  emptyChoice,
  MAX_TOOL_CALLS,
  readSystemFingerprint,
  type Choice,
  type CompletionHead,
  type ToolCall,
} from './completion';
import { FastDelta, textOfBody } from './fast-delta';
import type { FinishReason } from './finish-reason';
import type { JsonObject } from './json';

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
  readonly decoder: EventDecoder;
  /** Added to signed parts of the response; undefined: none. */
  readonly signer: string | undefined;
  /** Classifies an error in an event. */
  readonly failureOf: (error: ProviderError) => UpstreamFailure;
}

/** A decoded event that is not part of the completions yet. Decode no further event before it is applied. */
export interface PendingEvent {
  /** The output that it adds, as far as tokens are counted. */
  readonly text: string;
  /** Adds it. Returns and throws like `CompletionStream.push`. */
  readonly apply: () => string;
}

/**
 * Accumulates the completions of a stream. Pure: takes the text of one event of the provider and returns the
 * server-sent events for the client.
 */
export class CompletionStream {
  /** The provider sends no further event. */
  done = false;
  /** The provider's first valid fingerprint, added to every later chunk. */
  systemFingerprint: string | undefined;

  private readonly byIndex = new Map<number, Choice>();
  private readonly fast: FastDelta;
  private prefix: string;
  private readonly suffix: string;
  private latestUsage: ReportedUsage | undefined;
  /** Output arrived after the latest report. */
  private isUsageEarly = false;
  private deltas = 0;
  private characterCount = 0;

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

  /** The provider's latest report, unchecked. Of one that output followed, only the input counts. */
  get reportedUsage(): ReportedUsage | undefined {
    return this.latestUsage && this.isUsageEarly
      ? { ...this.latestUsage, completionTokens: undefined, reasoningTokens: undefined }
      : this.latestUsage;
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
    return Math.max(this.deltas, Math.ceil(this.characterCount / CHARACTERS_PER_TOKEN));
  }

  /**
   * @returns the events for the client; empty when the event has nothing for it.
   * @throws UpstreamFailure for an error, or for an event that is unreadable.
   */
  push(data: string): string {
    const body = this.fast.match(data);
    return body === undefined ? this.apply(data, this.options.decoder.decode(data)) : this.applyBody(body);
  }

  /**
   * Decodes the next event without adding it to the completions.
   *
   * @throws UpstreamFailure for an event that is unreadable.
   */
  decode(data: string): PendingEvent {
    const body = this.fast.match(data);
    if (body !== undefined) return { text: textOfBody(body), apply: () => this.applyBody(body) };
    const event = this.options.decoder.decode(data);
    return { text: this.textOf(event), apply: () => this.apply(data, event) };
  }

  private applyBody(body: string): string {
    this.grow(body.length);
    return this.fast.add(body);
  }

  /** The output that an event adds. */
  private textOf({ choices }: DecodedEvent): string {
    let text = '';
    for (const { index, content, refusal, reasoning, toolCalls } of choices) {
      if (index >= this.options.n) continue;
      text += (content ?? '') + (refusal ?? '') + (reasoning ?? '');
      for (const call of toolCalls) {
        const known = this.byIndex.get(index)?.toolCalls[call.index];
        text += (known?.name ? '' : (call.name ?? '')) + call.arguments;
      }
    }
    return text;
  }

  private apply(data: string, event: DecodedEvent): string {
    const { choices, usage, systemFingerprint, error, done } = event;
    if (usage) this.latestUsage = usage;
    if (error) throw this.options.failureOf(error);
    if (this.systemFingerprint === undefined) this.setFingerprint(systemFingerprint);
    if (done) this.done = true;
    const frame = choices.length === 0 ? '' : this.applyChoices(data, choices);
    if (usage) this.isUsageEarly = false;
    return frame;
  }

  private applyChoices(data: string, choices: readonly ChoiceDelta[]): string {
    this.flushFastText();
    const parts: string[] = [];
    for (const choice of choices) {
      const part = this.pushChoice(choice);
      if (part !== '') parts.push(part);
    }
    if (parts.length === 0) return '';
    if (choices.length === 1) this.fast.learn(() => this.openTemplateOf(data), this.prefix);
    return `${this.prefix}${parts.join(',')}${this.suffix}`;
  }

  /**
   * Finishes completions without a finish_reason, after `[DONE]`.
   *
   * @param reason absent: that of a complete one.
   */
  closeOpenChoices(reason?: FinishReason): string {
    const parts: string[] = [];
    const isEmpty = this.byIndex.size === 0;
    if (isEmpty) this.byIndex.set(0, emptyChoice(0));
    for (const choice of this.choices) {
      if (choice.finishReason !== undefined) continue;
      choice.finishReason = reason ?? (choice.toolCalls.length > 0 ? 'tool_calls' : 'stop');
      const calls = startsOfUnnamedCalls(choice);
      const delta = isEmpty
        ? { role: 'assistant', content: '' }
        : calls.length > 0
          ? { tool_calls: calls }
          : {};
      parts.push(this.renderDelta(choice.index, delta, null, choice.finishReason));
    }
    return parts.length === 0 ? '' : `${this.prefix}${parts.join(',')}${this.suffix}`;
  }

  /** The last chunk, for clients that requested usage. */
  usageChunk(usage: object): string {
    return `${this.prefix}],"usage":${JSON.stringify(usage)}}\n\n`;
  }

  private pushChoice(read: ChoiceDelta): string {
    const { index, logprobs, finishReason } = read;
    if (index >= this.options.n) return '';
    let choice = this.byIndex.get(index);
    const first = choice === undefined;
    if (!choice) {
      choice = emptyChoice(index);
      this.byIndex.set(index, choice);
    }
    const rendered = this.applyDelta(choice, read, first);
    if (logprobs) addLogprobs(choice, logprobs);
    if (finishReason !== undefined) choice.finishReason = finishReason;
    if (read.stopSequence !== undefined) choice.stopSequence = read.stopSequence;
    if (!first && !rendered.hasOutput && logprobs === null && finishReason === undefined) return '';
    return this.renderDelta(index, rendered.delta, logprobs, finishReason, read.stopSequence);
  }

  private applyDelta(
    choice: Choice,
    read: ChoiceDelta,
    first: boolean,
  ): { delta: object; hasOutput: boolean } {
    const rendered: Record<string, unknown> = {};
    const { signer } = this.options;
    const { content, refusal, reasoning, toolCalls } = read;
    const reasoningDetails = (read.reasoningDetails ?? []).map((detail) => signedDetail(detail, signer));
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
    if (reasoningDetails.length > 0) {
      for (const detail of reasoningDetails) addReasoningDetail(choice, detail);
      rendered['reasoning_details'] = reasoningDetails;
      // The text of unsigned ones is counted as reasoning.
      const signed = reasoningDetails.filter((detail) => !isUnsigned(detail));
      if (signed.length > 0) this.countCharacters(JSON.stringify(signed).length);
    }
    const calls = toolCalls.flatMap((call) => this.applyToolCall(choice, call));
    const finishes = read.finishReason !== undefined && choice.finishReason === undefined;
    if (finishes) calls.push(...startsOfUnnamedCalls(choice));
    if (calls.length > 0) rendered['tool_calls'] = calls;
    const hasOutput = Boolean(content || refusal || reasoning) || reasoningDetails.length + calls.length > 0;
    return { delta: rendered, hasOutput };
  }

  private applyToolCall(choice: Choice, call: ToolCallDelta): object[] {
    const { index } = call;
    if (index >= MAX_TOOL_CALLS) throw malformed('too many tool calls');
    this.grow(call.arguments.length);
    const extraContent = call.extraContent && withSigner(call.extraContent, this.options.signer);
    if (extraContent) this.countCharacters(JSON.stringify(extraContent).length);
    const known = choice.toolCalls[index];
    if (known) {
      known.arguments += call.arguments;
      if (extraContent) known.extraContent = extraContent;
      // Some servers repeat the name in every delta; the client has it already.
      if (known.name !== '') return partOfCall(index, call.arguments, extraContent);
      return this.nameCall(known, index, call.name);
    }
    if (index !== choice.toolCalls.length) throw malformed('a tool call out of order');
    const added = {
      id: call.id ?? createToolCallId(this.options.head, choice.index, index),
      name: '',
      arguments: call.arguments,
      extraContent,
    };
    choice.toolCalls.push(added);
    return this.nameCall(added, index, call.name);
  }

  /**
   * The start of a call is sent with its name, which clients read only there; some servers send it later. Without a name
   * it is sent when the completion finishes.
   */
  private nameCall(call: ToolCall, index: number, name: string | undefined): object[] {
    if (name === undefined) return [];
    call.name = name;
    this.grow(name.length);
    return [startOfCall(call, index)];
  }

  private renderDelta(
    index: number,
    delta: object,
    logprobs: object | null,
    finish: FinishReason | undefined,
    stopSequence?: string,
  ): string {
    const stop = stopSequence === undefined ? '' : `,"stop_sequence":${JSON.stringify(stopSequence)}`;
    const reason = finish === undefined ? 'null' : `"${finish}"`;
    return `{"index":${index},"delta":${JSON.stringify(delta)},"logprobs":${logprobs === null ? 'null' : JSON.stringify(logprobs)},"finish_reason":${reason}${stop}}`;
  }

  private setFingerprint(value: unknown): void {
    this.systemFingerprint = readSystemFingerprint(value);
    if (this.systemFingerprint !== undefined) {
      this.prefix = chunkPrefix(this.options.head, this.systemFingerprint);
    }
  }

  private grow(characters: number): void {
    if (characters > 0) this.deltas += 1;
    this.countCharacters(characters);
  }

  private countCharacters(characters: number): void {
    if (characters > 0) this.isUsageEarly = true;
    this.characterCount += characters;
    if (this.characterCount > MAX_OUTPUT_CHARACTERS)
      throw malformed(`more than ${MAX_OUTPUT_CHARACTERS} characters of text`);
  }

  /** Only of a completion that may get more text. */
  private openTemplateOf(data: string): EventTemplate | undefined {
    const template = this.options.decoder.templateOf(data);
    const isOpen = template && this.byIndex.get(template.index)?.finishReason === undefined;
    return isOpen && template.index < this.options.n ? template : undefined;
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

function startOfCall({ id, name, arguments: text, extraContent }: ToolCall, index: number): object {
  const extra = extraContent === undefined ? {} : { extra_content: extraContent };
  return { index, id, type: 'function', function: { name, arguments: text }, ...extra };
}

/** The calls of a completion that finishes: no name can follow. */
function startsOfUnnamedCalls({ toolCalls }: Choice): object[] {
  return toolCalls.flatMap((call, index) => (call.name === '' ? [startOfCall(call, index)] : []));
}

function partOfCall(index: number, text: string, extraContent: JsonObject | undefined): object[] {
  const extra = extraContent === undefined ? {} : { extra_content: extraContent };
  if (text !== '') return [{ index, function: { arguments: text }, ...extra }];
  return extraContent === undefined ? [] : [{ index, ...extra }];
}

function addLogprobs(choice: Choice, more: Logprobs): void {
  const all = (choice.logprobs ??= { content: null, refusal: null });
  if (more.content) (all.content ??= []).push(...more.content);
  if (more.refusal) (all.refusal ??= []).push(...more.refusal);
}
