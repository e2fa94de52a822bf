import { errorEnvelope, type GatewayError } from '@gateway/errors';
import type { JsonObject, JsonValue } from '../../json/json-value';
import { ChunkReader, type ChunkConsumer } from '../chunk-reader';
import { CompletionReader, type CompletionConsumer } from '../completion-reader';
import type { ResponseContext, StreamRenderer } from '../response-format';
import {
  callItem,
  endOf,
  IN_PROGRESS,
  itemId,
  jsonBody,
  messageJson,
  partJson,
  reasoningItem,
  responseHead,
  responseJson,
  statusOf,
  usageOf,
} from './output';

/** The deltas of a part are joined after this many: V8 retains every string that a slice is from. */
const MAX_PENDING_BODIES = 16;

/** The item that has started and not ended. */
type Open =
  | {
      readonly kind: 'reasoning';
      readonly id: string;
      text: string;
      readonly details: JsonObject[];
      readonly calls: JsonObject;
    }
  | {
      readonly kind: 'message';
      readonly id: string;
      /** The JSON of the parts that have ended. */
      readonly parts: string[];
      /** The kind of the open part. */
      part: 'text' | 'refusal' | undefined;
    }
  | { readonly kind: 'call'; readonly call: { id: string; name: string; arguments: string } };

type Message = Extract<Open, { kind: 'message' }>;

/** The events of one response. */
export class ResponseStream implements StreamRenderer, ChunkConsumer, CompletionConsumer {
  private readonly chunks = new ChunkReader(this);
  private readonly completion = new CompletionReader(this);
  private events = '';
  private sequence = 0;
  /** From `responseHead`; empty until the start. */
  private head = '';
  private open: Open | undefined;
  /** The JSON of the items that have ended. */
  private readonly output: string[] = [];
  /** The open part of a message, as the body of a JSON string. */
  private partBody = '';
  private pendingBodies: string[] = [];
  /** What its text events have before their text. */
  private beforeText = '';
  private reason = 'stop';
  private lastUsage: JsonObject | null = null;

  constructor(private readonly context: ResponseContext) {}

  get isInText(): boolean {
    return this.open?.kind === 'message' && this.open.part === 'text';
  }

  push(chunks: Buffer): string {
    this.chunks.read(chunks.toString('utf8'));
    return this.take();
  }

  textBody(body: string): void {
    this.addBody(body);
    this.events += `${this.beforeText}${body}","logprobs":[],"sequence_number":${this.sequence++}}\n\n`;
  }

  chunk(chunk: JsonObject): void {
    this.start(chunk['created']);
    this.completion.read(chunk);
  }

  end(): string {
    this.start();
    this.closeItem();
    const ending = endOf(this.reason, this.lastUsage);
    this.emitResponse(`response.${ending.status}`, ending);
    return this.take();
  }

  fail(error: GatewayError): string {
    this.start();
    const { error: failure } = errorEnvelope(error);
    this.emitResponse('response.failed', { ...IN_PROGRESS, status: 'failed', error: failure });
    return this.take();
  }

  reasoning(text: string): void {
    const open = this.openReasoning();
    if (open.text === '') {
      const part = { type: 'summary_text', text: '' };
      this.emitOf(open.id, 'response.reasoning_summary_part.added', { summary_index: 0, part });
    }
    open.text += text;
    this.emitOf(open.id, 'response.reasoning_summary_text.delta', { summary_index: 0, delta: text });
  }

  signed(detail: JsonObject): void {
    if (this.context.requested.packsReasoning) this.openReasoning().details.push(detail);
  }

  extraOfCall(id: string, extra: JsonValue): void {
    if (this.context.requested.packsReasoning) this.openReasoning().calls[id] = extra;
  }

  text(text: string): void {
    this.openPart('text');
    this.textBody(jsonBody(text));
  }

  refusal(text: string): void {
    const id = this.openPart('refusal');
    this.addBody(jsonBody(text));
    this.emitOf(id, 'response.refusal.delta', { content_index: this.contentIndex(), delta: text });
  }

  startCall(id: string, name: string): void {
    this.closeItem();
    const call = { id, name, arguments: '' };
    this.open = { kind: 'call', call };
    const started = callItem(call, this.output.length, this.context, 'in_progress');
    this.emitItem('response.output_item.added', JSON.stringify(started));
  }

  callArguments(text: string): void {
    if (this.open?.kind !== 'call') return;
    const { call } = this.open;
    call.arguments += text;
    // The input of a custom tool is within the arguments: it is sent when they are complete.
    if (this.isCustom(call.name)) return;
    this.emitOf(this.callId(call.name), 'response.function_call_arguments.delta', { delta: text });
  }

  endCall(): void {
    this.closeItem();
  }

  finish(reason: string): void {
    this.reason = reason;
    this.closeItem();
  }

  usage(usage: JsonObject): void {
    this.lastUsage = usageOf(usage);
  }

  private start(created?: JsonValue): void {
    if (this.head !== '') return;
    this.head = responseHead(this.context, created);
    this.emitResponse('response.created', IN_PROGRESS);
    this.emitResponse('response.in_progress', IN_PROGRESS);
  }

  private emitResponse(type: string, state: typeof IN_PROGRESS): void {
    this.emit(type, `"response":${responseJson(this.head, state, this.output)}}`);
  }

  private openReasoning(): Extract<Open, { kind: 'reasoning' }> {
    if (this.open?.kind === 'reasoning') return this.open;
    this.closeItem();
    const id = itemId('reasoning', this.context, this.output.length);
    const open: Open = { kind: 'reasoning', id, text: '', details: [], calls: {} };
    this.open = open;
    const started = { id, type: 'reasoning', summary: [] };
    this.emitItem('response.output_item.added', JSON.stringify(started));
    return open;
  }

  private openPart(kind: 'text' | 'refusal'): string {
    if (this.open?.kind !== 'message') {
      this.closeItem();
      const id = itemId('message', this.context, this.output.length);
      this.open = { kind: 'message', id, parts: [], part: undefined };
      this.emitItem('response.output_item.added', messageJson(id, [], 'in_progress'));
    }
    const { open } = this;
    if (open.part === kind) return open.id;
    this.closePart(open);
    open.part = kind;
    this.emitPart(open, 'response.content_part.added', `"part":${partJson(kind, '')}`);
    this.beforeText = `event: response.output_text.delta\ndata: {"type":"response.output_text.delta","item_id":"${open.id}","output_index":${this.output.length},"content_index":${open.parts.length},"delta":"`;
    return open.id;
  }

  private closePart(open: Message): void {
    const { part } = open;
    if (part === undefined) return;
    this.joinBodies();
    const body = this.partBody;
    if (part === 'text') this.emitPart(open, 'response.output_text.done', `"text":"${body}","logprobs":[]`);
    else this.emitPart(open, 'response.refusal.done', `"refusal":"${body}"`);
    const json = partJson(part, body);
    this.emitPart(open, 'response.content_part.done', `"part":${json}`);
    open.parts.push(json);
    open.part = undefined;
    this.partBody = '';
  }

  private closeItem(): void {
    const { open } = this;
    if (!open) return;
    const item = this.itemOf(open);
    this.open = undefined;
    this.emitItem('response.output_item.done', item);
    this.output.push(item);
  }

  /** The JSON of an item that ends. */
  private itemOf(open: Open): string {
    switch (open.kind) {
      case 'reasoning': {
        if (open.text !== '') {
          const part = { type: 'summary_text', text: open.text };
          const done = { summary_index: 0, text: open.text };
          this.emitOf(open.id, 'response.reasoning_summary_text.done', done);
          this.emitOf(open.id, 'response.reasoning_summary_part.done', { summary_index: 0, part });
        }
        return JSON.stringify(reasoningItem(open.id, open, this.context));
      }
      case 'message': {
        this.closePart(open);
        return messageJson(open.id, open.parts, statusOf(this.reason));
      }
      case 'call': {
        const item = callItem(open.call, this.output.length, this.context);
        const id = item['id'] as string;
        if (item['type'] === 'function_call') {
          const done = { name: open.call.name, arguments: open.call.arguments };
          this.emitOf(id, 'response.function_call_arguments.done', done);
        } else {
          const { input = '' } = item;
          if (input !== '') this.emitOf(id, 'response.custom_tool_call_input.delta', { delta: input });
          this.emitOf(id, 'response.custom_tool_call_input.done', { input });
        }
        return JSON.stringify(item);
      }
    }
  }

  private isCustom(name: string): boolean {
    return this.context.requested.customTools?.includes(name) ?? false;
  }

  private callId(name: string): string {
    return itemId(
      this.isCustom(name) ? 'custom_tool_call' : 'function_call',
      this.context,
      this.output.length,
    );
  }

  private contentIndex(): number {
    return this.open?.kind === 'message' ? this.open.parts.length : 0;
  }

  private addBody(body: string): void {
    this.pendingBodies.push(body);
    if (this.pendingBodies.length >= MAX_PENDING_BODIES) this.joinBodies();
  }

  private joinBodies(): void {
    this.partBody += this.pendingBodies.join('');
    this.pendingBodies = [];
  }

  private emitItem(type: string, itemJson: string): void {
    this.emit(type, `"output_index":${this.output.length},"item":${itemJson}}`);
  }

  private emitPart({ id, parts }: Message, type: string, rest: string): void {
    const place = `"output_index":${this.output.length},"content_index":${parts.length}`;
    this.emit(type, `"item_id":"${id}",${place},${rest}}`);
  }

  private emitOf(id: string, type: string, fields: JsonObject): void {
    const rest = JSON.stringify(fields).slice(1);
    this.emit(type, `"item_id":"${id}","output_index":${this.output.length},${rest}`);
  }

  /** @param rest the JSON of its other fields, without the opening brace. */
  private emit(type: string, rest: string): void {
    this.events += `event: ${type}\ndata: {"type":"${type}","sequence_number":${this.sequence++},${rest}\n\n`;
  }

  private take(): string {
    const { events } = this;
    this.events = '';
    return events;
  }
}
