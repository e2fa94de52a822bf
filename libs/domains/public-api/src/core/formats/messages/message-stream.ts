import { errorEnvelope, type GatewayError } from '@gateway/errors';
import type { JsonObject, JsonValue } from '../../json/json-value';
import { typedEvent } from '../chunk-events';
import { ChunkReader, type ChunkConsumer } from '../chunk-reader';
import { CompletionReader, type CompletionConsumer } from '../completion-reader';
import type { ResponseContext, StreamRenderer } from '../response-format';
import {
  cumulativeUsage,
  extraBlock,
  firstUsage,
  messageHead,
  signedBlock,
  stopOf,
  toolUseBlock,
} from './message';

type BlockType = 'text' | 'thinking' | 'tool_use';

/** The events of one message. */
export class MessageStream implements StreamRenderer, ChunkConsumer, CompletionConsumer {
  private readonly chunks = new ChunkReader(this);
  private readonly completion = new CompletionReader(this);
  private events = '';
  private hasStarted = false;
  private hasEnded = false;
  private open: BlockType | undefined;
  /** The position of the open block, or of the next one. */
  private index = 0;
  /** Reasoning after a text. Clients read the last block as the response, so it is sent only if another block follows. */
  private held: JsonObject[] = [];
  private stop: JsonObject = stopOf('stop', undefined);
  private lastUsage: JsonObject = {};

  constructor(private readonly context: ResponseContext) {}

  get isInText(): boolean {
    return this.open === 'text';
  }

  push(chunks: Buffer): string {
    this.chunks.read(chunks.toString('utf8'));
    return this.take();
  }

  textBody(body: string): void {
    this.events += `event: content_block_delta\ndata: {"type":"content_block_delta","index":${this.index},"delta":{"type":"text_delta","text":"${body}"}}\n\n`;
  }

  chunk(chunk: JsonObject): void {
    this.start();
    this.completion.read(chunk);
  }

  end(): string {
    this.start();
    this.endMessage();
    this.emit({ type: 'message_stop' });
    return this.take();
  }

  fail(error: GatewayError): string {
    this.emit({ type: 'error', ...errorEnvelope(error) });
    return this.take();
  }

  reasoning(text: string): void {
    this.openBlock('thinking', { type: 'thinking', thinking: '', signature: '' });
    this.delta({ type: 'thinking_delta', thinking: text });
  }

  signed(detail: JsonObject): void {
    const block = signedBlock(detail);
    if (block['type'] !== 'thinking') return this.addOpaque(block);
    if (this.open !== 'thinking') {
      this.openBlock('thinking', { type: 'thinking', thinking: '', signature: '' });
      if (block['thinking'] !== '')
        this.delta({ type: 'thinking_delta', thinking: block['thinking'] as string });
    }
    this.delta({ type: 'signature_delta', signature: block['signature'] as string });
    this.closeBlock();
  }

  text(text: string): void {
    this.openBlock('text', { type: 'text', text: '', citations: null });
    this.delta({ type: 'text_delta', text });
  }

  refusal(text: string): void {
    this.text(text);
  }

  startCall(id: string, name: string): void {
    this.closeBlock();
    this.openBlock('tool_use', toolUseBlock(id, name, {}));
  }

  callArguments(text: string): void {
    this.delta({ type: 'input_json_delta', partial_json: text });
  }

  endCall(): void {
    this.closeBlock();
  }

  extraOfCall(id: string, extra: JsonValue): void {
    this.wholeBlock(extraBlock(id, extra));
  }

  finish(reason: string, stopSequence: string | undefined): void {
    this.closeBlock();
    this.stop = stopOf(reason, stopSequence, this.context.requested.stopSequences);
  }

  usage(usage: JsonObject): void {
    this.lastUsage = cumulativeUsage(usage);
    this.endMessage();
  }

  private start(): void {
    if (this.hasStarted) return;
    this.hasStarted = true;
    const message = { ...messageHead(this.context), usage: firstUsage(this.context) };
    this.emit({ type: 'message_start', message });
    this.emit({ type: 'ping' });
  }

  private endMessage(): void {
    if (this.hasEnded) return;
    this.hasEnded = true;
    this.closeBlock();
    this.emit({ type: 'message_delta', delta: { ...this.stop, container: null }, usage: this.lastUsage });
  }

  private openBlock(type: BlockType, block: JsonObject): void {
    if (this.open === type) return;
    this.closeBlock();
    this.sendHeld();
    this.open = type;
    this.emit({ type: 'content_block_start', index: this.index, content_block: block });
  }

  private addOpaque(block: JsonObject): void {
    if (this.open !== 'text' && this.held.length === 0) return this.wholeBlock(block);
    this.closeBlock();
    this.held.push(block);
  }

  private sendHeld(): void {
    const { held } = this;
    this.held = [];
    for (const block of held) this.wholeBlock(block);
  }

  private wholeBlock(block: JsonObject): void {
    this.closeBlock();
    this.sendHeld();
    this.emit({ type: 'content_block_start', index: this.index, content_block: block });
    this.emit({ type: 'content_block_stop', index: this.index });
    this.index += 1;
  }

  private closeBlock(): void {
    if (this.open === undefined) return;
    this.open = undefined;
    this.emit({ type: 'content_block_stop', index: this.index });
    this.index += 1;
  }

  private delta(delta: JsonObject): void {
    this.emit({ type: 'content_block_delta', index: this.index, delta });
  }

  private emit(event: { readonly type: string; readonly [name: string]: unknown }): void {
    this.events += typedEvent(event);
  }

  private take(): string {
    const { events } = this;
    this.events = '';
    return events;
  }
}
