import type { FinishReason } from '../../completion/finish-reason';
import { asObject, nonEmptyText, parseJson, textOf, type JsonObject } from '../../completion/json';
import type {
  ChoiceDelta,
  DecodedEvent,
  EventDecoder,
  EventTemplate,
  ReasoningDetail,
  ToolCallDelta,
} from '../dialect';
import { choiceDelta } from '../choice-delta';
import { malformed } from '../failures';
import { readErrorEvent } from './classify-error';
import { mergeFirstUsage, mergeUsage, NO_USAGE, toReportedUsage, type UsageReport } from './read-usage';
import { finishReasonOf, stopSequenceOf } from './stop-reason';

/** A content block that has started and not stopped. */
type OpenBlock =
  | { readonly kind: 'text' | 'ignored' }
  | { readonly kind: 'thinking'; text: string; signature: string }
  | { readonly kind: 'tool'; readonly index: number; readonly input: JsonObject; hasArguments: boolean };

/** Longer events are rare, and not worth a template. */
const MAX_TEMPLATE_CHARACTERS = 4_096;

const NOTHING: DecodedEvent = { choices: [] };

export function createDecoder(): EventDecoder {
  return new AnthropicDecoder();
}

/** Decodes the events of one message. */
class AnthropicDecoder implements EventDecoder {
  private readonly open = new Map<number, OpenBlock>();
  private messageId: unknown;
  private hasContent = false;
  private toolCalls = 0;
  private reasoningParts = 0;
  private usage: UsageReport = NO_USAGE;

  decode(data: string): DecodedEvent {
    const event = asObject(parseJson(data));
    if (!event) throw malformed('an event that is not a JSON object');
    const error = readErrorEvent(event);
    if (error) return { choices: [], error };
    switch (event['type']) {
      case 'message_start':
        return this.startMessage(event);
      case 'content_block_start':
        return decoded(this.startBlock(event));
      case 'content_block_delta':
        return decoded(this.addDelta(event));
      case 'content_block_stop':
        return decoded(this.stopBlock(event['index']));
      case 'message_delta':
        return this.endMessage(event);
      case 'message_stop':
        return { choices: [], done: true };
      default:
        // Pings, and events that may be added to the protocol.
        return NOTHING;
    }
  }

  templateOf(data: string): EventTemplate | undefined {
    const match = data.length > MAX_TEMPLATE_CHARACTERS ? null : TEXT_DELTA.exec(data);
    return match ? { before: match[1] as string, after: '"}}', padded: true, index: 0 } : undefined;
  }

  private startMessage(event: JsonObject): DecodedEvent {
    const message = asObject(event['message']);
    if (!message) throw malformed('a message_start without a message');
    // Proxies repeat the event, and some retry a broken stream inside the same response.
    if (this.hasContent && message['id'] !== this.messageId)
      throw malformed('a second message in one stream');
    this.messageId = message['id'];
    const block = asObject(message['usage']);
    if (!block) return NOTHING;
    this.usage = mergeFirstUsage(this.usage, block);
    return { choices: [], usage: toReportedUsage(this.usage) };
  }

  private startBlock(event: JsonObject): Partial<ChoiceDelta> | undefined {
    const block = asObject(event['content_block']);
    if (!block) throw malformed('a content_block_start without a block');
    this.hasContent = true;
    const index = indexOf(event);
    switch (block['type']) {
      case 'text':
        this.open.set(index, { kind: 'text' });
        return { content: nonEmptyText(block['text']) ?? null };
      case 'thinking': {
        const text = textOf(block['thinking']);
        this.open.set(index, { kind: 'thinking', text, signature: textOf(block['signature']) });
        return { reasoning: nonEmptyText(text) ?? null };
      }
      case 'redacted_thinking':
        this.open.set(index, { kind: 'ignored' });
        return { reasoningDetails: this.redacted(block['data']) };
      case 'tool_use':
        return this.startTool(index, block);
      default:
        // Blocks of server tools, which the gateway does not request.
        this.open.set(index, { kind: 'ignored' });
        return undefined;
    }
  }

  private startTool(index: number, block: JsonObject): Partial<ChoiceDelta> {
    const call = this.toolCalls;
    this.toolCalls += 1;
    const input = asObject(block['input']) ?? {};
    this.open.set(index, { kind: 'tool', index: call, input, hasArguments: false });
    const id = nonEmptyText(block['id']);
    const name = nonEmptyText(block['name']);
    return { toolCalls: [{ index: call, id, name, arguments: '' }] };
  }

  private addDelta(event: JsonObject): Partial<ChoiceDelta> | undefined {
    const delta = asObject(event['delta']);
    if (!delta) throw malformed('a content_block_delta without a delta');
    const block = this.open.get(indexOf(event));
    if (!block) throw malformed('a delta of a block that is not open');
    if (block.kind === 'ignored') return undefined;
    switch (delta['type']) {
      case 'text_delta':
        return { content: nonEmptyText(requireText(delta, 'text', block.kind === 'text')) ?? null };
      case 'thinking_delta': {
        const text = requireText(delta, 'thinking', block.kind === 'thinking');
        if (block.kind === 'thinking') block.text += text;
        return { reasoning: nonEmptyText(text) ?? null };
      }
      case 'signature_delta': {
        const signature = requireText(delta, 'signature', block.kind === 'thinking');
        if (block.kind === 'thinking') block.signature += signature;
        return undefined;
      }
      case 'input_json_delta': {
        const json = requireText(delta, 'partial_json', block.kind === 'tool');
        if (block.kind !== 'tool' || json === '') return undefined;
        block.hasArguments = true;
        return { toolCalls: [argumentsDelta(block.index, json)] };
      }
      default:
        // Citations, and deltas that may be added to the protocol.
        return undefined;
    }
  }

  private stopBlock(index: unknown): Partial<ChoiceDelta> | undefined {
    const block = typeof index === 'number' ? this.open.get(index) : undefined;
    this.open.delete(index as number);
    if (block?.kind === 'tool' && !block.hasArguments) {
      // A call without arguments has no delta with JSON; clients expect an object.
      return { toolCalls: [argumentsDelta(block.index, JSON.stringify(block.input))] };
    }
    if (block?.kind === 'thinking' && block.signature !== '') {
      // As a whole: a client then has a complete entry to send back, however it joins deltas.
      const { text, signature } = block;
      return {
        reasoningDetails: [{ type: 'reasoning.text', index: this.reasoningParts++, text, signature }],
      };
    }
    return undefined;
  }

  private endMessage(event: JsonObject): DecodedEvent {
    const delta = asObject(event['delta']) ?? {};
    const finishReason = finishReasonOf(delta['stop_reason']);
    const choices = finishReason === undefined ? [] : [this.finish(finishReason, stopSequenceOf(delta))];
    const block = asObject(event['usage']);
    if (!block) return { choices };
    this.usage = mergeUsage(this.usage, block);
    return { choices, usage: toReportedUsage(this.usage) };
  }

  /** Stops the blocks that are still open, in one delta: a chunk has one entry per choice. */
  private finish(finishReason: FinishReason, stopSequence: string | undefined): ChoiceDelta {
    const stopped = [...this.open.keys()].flatMap((index) => this.stopBlock(index) ?? []);
    const details = stopped.flatMap(({ reasoningDetails }) => reasoningDetails ?? []);
    return choiceDelta({
      toolCalls: stopped.flatMap(({ toolCalls }) => toolCalls ?? []),
      ...(details.length === 0 ? {} : { reasoningDetails: details }),
      finishReason,
      stopSequence,
    });
  }

  private redacted(data: unknown): readonly ReasoningDetail[] {
    if (typeof data !== 'string') throw malformed('redacted thinking without data');
    return [{ type: 'reasoning.encrypted', index: this.reasoningParts++, data }];
  }
}

/** The prefix of a text delta, and its text. White space of any length may precede the closing braces. */
const TEXT_DELTA =
  /^(\{"type":"content_block_delta","index":\d+,"delta":\{"type":"text_delta","text":")(?:[^"\\]|\\.)*"\s*\}\s*\}$/;

function decoded(parts: Partial<ChoiceDelta> | undefined): DecodedEvent {
  return parts === undefined ? NOTHING : { choices: [choiceDelta(parts)] };
}

function argumentsDelta(index: number, json: string): ToolCallDelta {
  return { index, id: undefined, name: undefined, arguments: json };
}

function indexOf(event: JsonObject): number {
  const index = event['index'];
  if (typeof index !== 'number') throw malformed('a block without an index');
  return index;
}

/** @param isExpected whether the block accepts this kind of delta. */
function requireText(delta: JsonObject, field: string, isExpected: boolean): string {
  const text = delta[field];
  if (typeof text !== 'string' || !isExpected) throw malformed(`a delta with a wrong ${field}`);
  return text;
}
