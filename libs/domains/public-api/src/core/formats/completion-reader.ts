import type { JsonObject, JsonValue } from '../json/json-value';
import { detailsOf, isUnsigned } from './packed-reasoning';

/** What the chunks of one completion add, in order. */
export interface CompletionConsumer {
  reasoning(text: string): void;
  /** A complete part of the reasoning that later requests repeat, as in `reasoning_details`. */
  signed(detail: JsonObject): void;
  text(text: string): void;
  refusal(text: string): void;
  /** No other output comes before the end of the call. */
  startCall(id: string, name: string): void;
  callArguments(text: string): void;
  endCall(): void;
  /** Data of a call that later requests repeat, before or after the call. */
  extraOfCall(id: string, extra: JsonValue): void;
  finish(reason: string, stopSequence: string | undefined): void;
  usage(usage: JsonObject): void;
}

interface Call {
  readonly id: string;
  readonly name: string;
  /** Not passed on yet. */
  arguments: string;
  readonly progress: JsonProgress;
  extra: JsonValue | undefined;
}

/** Whether the texts so far are one JSON object. Looks at each character once. */
class JsonProgress {
  private depth = 0;
  private isInString = false;
  private isEscaped = false;
  private hasStarted = false;

  get isComplete(): boolean {
    return this.hasStarted && this.depth === 0;
  }

  add(text: string): void {
    for (const character of text) {
      if (this.isEscaped) this.isEscaped = false;
      else if (this.isInString) {
        if (character === '"') this.isInString = false;
        this.isEscaped = character === '\\';
      } else if (character === '"') this.isInString = true;
      else if (character === '{') {
        this.depth += 1;
        this.hasStarted = true;
      } else if (character === '}') this.depth -= 1;
    }
  }
}

/** Reads the chunks of one completion. */
export class CompletionReader {
  /** Parts of the reasoning that are not complete. */
  private details: JsonObject[] = [];
  private open: { readonly index: number; readonly call: Call } | undefined;
  /** The last output was text. */
  private isInText = false;
  /** Calls that started before an earlier one was complete, by position. */
  private readonly waiting = new Map<number, Call>();

  constructor(private readonly consumer: CompletionConsumer) {}

  read(chunk: JsonObject): void {
    const { choices, usage } = chunk;
    const choice = (choices as JsonObject[])[0];
    if (choice) this.readChoice(choice);
    else if (usage !== null && usage !== undefined) this.consumer.usage(usage as JsonObject);
  }

  private readChoice({ delta, finish_reason: reason, stop_sequence: stop }: JsonObject): void {
    const { content, refusal, reasoning_content: reasoning, tool_calls: calls } = delta as JsonObject;
    const details = detailsOf(delta as JsonObject).filter((detail) => !isUnsigned(detail));
    if (isText(reasoning)) this.consumer.reasoning(reasoning);
    // The signature of a text comes with the end of the text.
    const isSignatureOfText = this.isInText && isText(content);
    if (!isSignatureOfText) for (const detail of details) this.addDetail(detail);
    if (isText(content)) {
      this.endReasoning();
      this.endCalls();
      this.consumer.text(content);
    }
    if (isSignatureOfText) for (const detail of details) this.addDetail(detail);
    this.isInText = isText(content) && details.length === 0;
    if (isText(refusal)) {
      this.endReasoning();
      this.endCalls();
      this.consumer.refusal(refusal);
    }
    if (Array.isArray(calls)) {
      this.endReasoning();
      for (const call of calls as JsonObject[]) this.addCall(call);
    }
    if (typeof reason !== 'string') return;
    this.endReasoning();
    this.endCalls();
    this.consumer.finish(reason, typeof stop === 'string' ? stop : undefined);
  }

  /** Texts and signatures of a part may arrive in several deltas of the same index. */
  private addDetail(detail: JsonObject): void {
    const last = this.details.at(-1);
    const continues =
      last !== undefined &&
      detail['index'] !== undefined &&
      detail['type'] === last['type'] &&
      detail['index'] === last['index'];
    if (continues) {
      const joined: JsonObject = { ...last, ...detail };
      for (const name of ['text', 'signature', 'summary'])
        if (isText(last[name])) joined[name] = last[name] + (isText(detail[name]) ? detail[name] : '');
      this.details[this.details.length - 1] = joined;
    } else {
      this.details.push(detail);
    }
    if (this.details.every(isComplete)) this.endReasoning();
  }

  private endReasoning(): void {
    if (this.details.length === 0) return;
    for (const detail of this.details) this.consumer.signed(detail);
    this.details = [];
  }

  private addCall(delta: JsonObject): void {
    const index = delta['index'] as number;
    const { name, arguments: text = '' } = (delta['function'] ?? {}) as JsonObject;
    const extra = delta['extra_content'];
    if (typeof delta['id'] === 'string' && typeof name === 'string') {
      const call = { id: delta['id'], name, arguments: '', progress: new JsonProgress(), extra };
      // Arguments that are complete JSON have no more parts.
      if (this.open?.call.progress.isComplete) this.endOpenCall();
      this.waiting.set(index, call);
      addArguments(call, text as string);
    } else {
      const call = this.waiting.get(index) ?? (this.open?.index === index ? this.open.call : undefined);
      if (!call) return;
      call.extra ??= extra;
      addArguments(call, text as string);
      this.passOn();
    }
    this.startWaiting();
  }

  /** Passes on what the open call got, and ends it if another one waits for its end. */
  private passOn(): void {
    if (!this.open) return;
    const { call } = this.open;
    if (call.arguments !== '') this.consumer.callArguments(call.arguments);
    call.arguments = '';
    if (this.waiting.size > 0 && call.progress.isComplete) this.endOpenCall();
  }

  private startCall(index: number, call: Call): void {
    this.open = { index, call };
    if (call.extra !== undefined) this.consumer.extraOfCall(call.id, call.extra);
    this.consumer.startCall(call.id, call.name);
    // Sent already; one that arrives later is sent after the call.
    call.extra = undefined;
    this.passOn();
  }

  private endOpenCall(): void {
    if (!this.open) return;
    const { call } = this.open;
    this.open = undefined;
    this.consumer.endCall();
    if (call.extra !== undefined) this.consumer.extraOfCall(call.id, call.extra);
  }

  /** Starts waiting calls; all but the last are complete. */
  private startWaiting(): void {
    for (const [index, call] of this.waiting) {
      if (this.open) return;
      this.waiting.delete(index);
      this.startCall(index, call);
    }
  }

  private endCalls(): void {
    while (this.open) {
      this.endOpenCall();
      this.startWaiting();
    }
  }
}

function isText(value: JsonValue | undefined): value is string {
  return typeof value === 'string' && value !== '';
}

/** Whether no further part of it follows. */
function isComplete({ type, signature }: JsonObject): boolean {
  return type === 'reasoning.encrypted' || isText(signature);
}

function addArguments(call: Call, text: string): void {
  call.arguments += text;
  call.progress.add(text);
}
