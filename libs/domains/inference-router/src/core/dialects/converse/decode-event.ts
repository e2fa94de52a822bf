import { asObject, nonEmptyText, parseJson, type JsonObject } from '../../completion/json';
import { MAX_TOOL_CALLS } from '../../completion/completion';
import type {
  ChoiceDelta,
  DecodedEvent,
  EventDecoder,
  EventTemplate,
  ReportedUsage,
  ToolCallDelta,
} from '../dialect';
import { errorIn } from './classify-error';
import { choiceDelta } from '../choice-delta';
import { malformed } from '../failures';
import type { ModelFamily } from './model-family';
import { readStreamUsageOfOpenAi, readUsage } from './read-usage';
import { finishReasonOf, stopSequenceOf } from './stop-reason';

const NO_CHOICES: readonly ChoiceDelta[] = [];

/** A text delta, up to its text. `AwsEventStreamParser` removes the padding that would follow the delta. */
const TEXT_EVENT = /^\{"contentBlockDelta":\{"contentBlockIndex":\d{1,6},"delta":\{"text":"/;
const TEXT_EVENT_END = '"}}}';
const STRING_BODY = /^(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*$/;

/** A tool call in progress. */
interface ToolBlock {
  /** Undefined for tools that the provider itself runs. */
  readonly index: number | undefined;
  hasInput: boolean;
}

/** Reasoning in progress. */
interface ReasoningBlock {
  readonly index: number;
  /** Not yet part of a reported detail. */
  text: string;
}

/**
 * Decodes ConverseStream events. A reasoning block becomes a reasoning detail once its signature has arrived; without a
 * signature the next request need not repeat it.
 */
export class ConverseDecoder implements EventDecoder {
  private readonly tools = new Map<number, ToolBlock>();
  private readonly reasoning = new Map<number, ReasoningBlock>();
  private toolCalls = 0;
  private reasoningBlocks = 0;
  private stopped = false;
  private usage: ReportedUsage | undefined;

  constructor(private readonly family: ModelFamily = 'unknown') {}

  decode(data: string): DecodedEvent {
    const event = asObject(parseJson(data));
    if (!event) throw malformed('an event that is not a JSON object');
    const [name] = Object.keys(event);
    if (name === undefined) return { choices: NO_CHOICES };
    const error = errorIn(event);
    if (error) return { choices: NO_CHOICES, error };
    const fields = asObject(event[name]);
    switch (name) {
      case 'contentBlockStart':
        return this.choices(this.startBlock(required(fields, name)));
      case 'contentBlockDelta':
        return this.choices(this.addToBlock(required(fields, name)));
      case 'contentBlockStop':
        return this.choices(this.stopBlock(required(fields, name)));
      case 'messageStop':
        this.stopped = true;
        return this.choices(stopped(required(fields, name)['stopReason']));
      case 'metadata':
        return this.readMetadata(required(fields, name));
      default:
        return { choices: NO_CHOICES };
    }
  }

  templateOf(data: string): EventTemplate | undefined {
    const before = TEXT_EVENT.exec(data)?.[0];
    if (before === undefined || !data.endsWith(TEXT_EVENT_END)) return undefined;
    if (!STRING_BODY.test(data.slice(before.length, -TEXT_EVENT_END.length))) return undefined;
    return { before, after: TEXT_EVENT_END, index: 0 };
  }

  /** The stream is complete with the reason and the usage; their order varies between models. */
  private choices(choice: ChoiceDelta | undefined): DecodedEvent {
    const done = this.stopped && this.usage !== undefined ? { done: true } : {};
    return { choices: choice ? [choice] : NO_CHOICES, ...done };
  }

  private startBlock(fields: JsonObject): ChoiceDelta | undefined {
    const tool = asObject(asObject(fields['start'])?.['toolUse']);
    if (!tool) return undefined;
    const block = blockIndex(fields);
    if (tool['type'] === 'server_tool_use') {
      this.tools.set(block, { index: undefined, hasInput: true });
      return undefined;
    }
    const { toolUseId, name } = tool;
    if (typeof name !== 'string' || name === '') throw malformed('a tool call without a name');
    if (this.toolCalls >= MAX_TOOL_CALLS) throw malformed(`more than ${MAX_TOOL_CALLS} tool calls`);
    const index = this.toolCalls;
    this.toolCalls += 1;
    this.tools.set(block, { index, hasInput: false });
    const id = nonEmptyText(toolUseId);
    return choiceDelta({ toolCalls: [{ index, id, name, arguments: '' }] });
  }

  private addToBlock(fields: JsonObject): ChoiceDelta | undefined {
    const added = required(asObject(fields['delta']), 'delta');
    if ('text' in added) return choiceDelta({ content: text(added['text'], 'text') });
    if ('toolUse' in added)
      return this.addInput(blockIndex(fields), required(asObject(added['toolUse']), 'toolUse'));
    if ('reasoningContent' in added) {
      return this.addReasoning(
        blockIndex(fields),
        required(asObject(added['reasoningContent']), 'reasoningContent'),
      );
    }
    // Citations, images and results of tools that the provider runs.
    return undefined;
  }

  private addInput(blockAt: number, { input }: JsonObject): ChoiceDelta | undefined {
    const block = this.tools.get(blockAt);
    if (!block) throw malformed('the input of a tool call that has not started');
    const added = text(input, 'input');
    if (block.index === undefined || added === '') return undefined;
    block.hasInput = true;
    return choiceDelta({ toolCalls: [argumentsDelta(block.index, added)] });
  }

  private addReasoning(blockAt: number, added: JsonObject): ChoiceDelta | undefined {
    const block = this.reasoning.get(blockAt) ?? { index: this.reasoningBlocks++, text: '' };
    this.reasoning.set(blockAt, block);
    const { index } = block;
    if ('text' in added) {
      const reasoning = text(added['text'], 'reasoning');
      block.text += reasoning;
      return choiceDelta({ reasoning });
    }
    if ('signature' in added) {
      const signed = { text: block.text, signature: text(added['signature'], 'signature') };
      block.text = '';
      return choiceDelta({ reasoningDetails: [{ type: 'reasoning.text', index, ...signed }] });
    }
    if ('redactedContent' in added) {
      const data = text(added['redactedContent'], 'redactedContent');
      return choiceDelta({ reasoningDetails: [{ type: 'reasoning.encrypted', index, data }] });
    }
    return undefined;
  }

  private stopBlock(fields: JsonObject): ChoiceDelta | undefined {
    const block = blockIndex(fields);
    const tool = this.tools.get(block);
    this.tools.delete(block);
    this.reasoning.delete(block);
    if (tool?.index === undefined || tool.hasInput) return undefined;
    // The arguments have to be JSON text, too, when there are none.
    return choiceDelta({ toolCalls: [argumentsDelta(tool.index, '{}')] });
  }

  private readMetadata(fields: JsonObject): DecodedEvent {
    const usage = asObject(fields['usage']);
    if (!usage) return this.choices(undefined);
    this.usage = this.family === 'openai' ? readStreamUsageOfOpenAi(usage) : readUsage(usage);
    return { ...this.choices(undefined), usage: this.usage };
  }
}

function argumentsDelta(index: number, text: string): ToolCallDelta {
  return { index, id: undefined, name: undefined, arguments: text };
}

function required(fields: JsonObject | undefined, name: string): JsonObject {
  if (!fields) throw malformed(`an event whose ${name} is not an object`);
  return fields;
}

function text(value: unknown, name: string): string {
  if (typeof value !== 'string') throw malformed(`a ${name} that is not a text`);
  return value;
}

function blockIndex({ contentBlockIndex }: JsonObject): number {
  if (
    typeof contentBlockIndex !== 'number' ||
    !Number.isInteger(contentBlockIndex) ||
    contentBlockIndex < 0
  ) {
    throw malformed('a content block without an index');
  }
  return contentBlockIndex;
}

function stopped(reason: unknown): ChoiceDelta {
  return choiceDelta({ finishReason: finishReasonOf(reason), ...stopSequenceOf(reason) });
}
