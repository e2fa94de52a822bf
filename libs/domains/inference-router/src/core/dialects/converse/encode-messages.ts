import { asObject, textOf, type JsonObject } from '../../completion/json';
import type { CachePoints } from './cache-points';
import { fitDocuments } from './documents';
import { encodeContent, textBlock } from './encode-content';
import { encodeReasoningDetails } from './encode-reasoning';
import type { ModelFamily } from './model-family';
import { refused } from '../failures';
import { argumentsObject } from '../lenient-arguments';
import { FIRST_QUESTION } from '../vendor-rules';

interface Turn {
  readonly role: 'user' | 'assistant';
  readonly content: JsonObject[];
}

export interface EncodedMessages {
  readonly system: JsonObject[];
  readonly turns: readonly Turn[];
}

/**
 * Encodes the messages of a request. Bedrock refuses tool calls and results in requests without tools: they become text.
 */
export class MessageEncoder {
  private system: JsonObject[] = [];
  private readonly turns: Turn[] = [];
  /** The names of the called tools, by the id of the call. */
  private readonly names = new Map<string, string>();

  constructor(
    private readonly family: ModelFamily,
    private readonly points: CachePoints,
    private readonly offersTools: boolean,
  ) {}

  encode(messages: readonly JsonObject[]): EncodedMessages {
    for (const [index, message] of messages.entries()) this.add(message, `messages[${index}]`);
    if (this.turns.length === 0 && this.system.length > 0) {
      // Bedrock requires a turn. Instructions without a question are the question.
      this.turns.push({ role: 'user', content: this.system });
      this.system = [];
    }
    if (this.turns[0]?.role === 'assistant') {
      this.turns.unshift({ role: 'user', content: [{ text: FIRST_QUESTION }] });
    }
    if (this.turns.length === 0) {
      throw refused('messages', 'At least one user or assistant message must have content.');
    }
    if (this.family === 'anthropic' || this.family === 'unknown') this.trimLastAssistantTurn();
    fitDocuments(this.turns);
    return { system: this.system, turns: this.turns };
  }

  private add(message: JsonObject, path: string): void {
    const { role } = message;
    switch (role) {
      case 'system':
      case 'developer': {
        const blocks = encodeContent(message['content'], this.points, 'system', `${path}.content`);
        if (blocks.some((block) => 'image' in block || 'document' in block)) {
          throw refused(`${path}.content`, `Images and documents are not supported in ${role} messages.`);
        }
        this.system.push(...blocks);
        return;
      }
      case 'user':
        this.addTurn('user', this.contentOf(message, path));
        return;
      case 'assistant':
        this.addTurn('assistant', this.assistantBlocks(message, path));
        return;
      case 'tool':
        this.addTurn('user', this.toolResult(message, path));
        return;
      default:
        throw refused(`${path}.role`, `The role '${String(role)}' is not supported.`);
    }
  }

  /** Adjacent messages of one role are merged, since roles have to alternate. */
  private addTurn(role: Turn['role'], blocks: JsonObject[]): void {
    if (blocks.length === 0) return;
    const last = this.turns.at(-1);
    if (last?.role === role) last.content.push(...blocks);
    else this.turns.push({ role, content: blocks });
  }

  /** Claude continues a last assistant turn, and refuses white space at its end. */
  private trimLastAssistantTurn(): void {
    const last = this.turns.at(-1);
    if (last?.role !== 'assistant') return;
    const index = last.content.findLastIndex((block) => !('cachePoint' in block));
    const text = last.content[index]?.['text'];
    if (typeof text === 'string') last.content[index] = { text: text.trimEnd() };
  }

  private contentOf(message: JsonObject, path: string): JsonObject[] {
    return encodeContent(message['content'], this.points, 'messages', `${path}.content`);
  }

  /** Reasoning comes first: Claude expects it before the calls that it led to. */
  private assistantBlocks(message: JsonObject, path: string): JsonObject[] {
    const blocks = [
      ...encodeReasoningDetails(message['reasoning_details']),
      ...this.contentOf(message, path),
    ];
    const refusal = textBlock(message['refusal']);
    if (refusal) blocks.push(refusal);
    const calls = message['tool_calls'];
    for (const value of Array.isArray(calls) ? (calls as unknown[]) : []) {
      const call = asObject(value);
      const called = asObject(call?.['function']);
      if (!call || !called) continue;
      blocks.push(this.toolUse(call, called));
      this.points.append(blocks, call, 'messages');
    }
    return blocks;
  }

  private toolUse(call: JsonObject, called: JsonObject): JsonObject {
    const id = String(call['id']);
    const name = String(called['name']);
    const text = textOf(called['arguments']);
    this.names.set(id, name);
    if (!this.offersTools) return { text: `Called the tool ${name} with ${text === '' ? '{}' : text}` };
    return { toolUse: { toolUseId: id, name, input: argumentsObject(text) } };
  }

  private toolResult(message: JsonObject, path: string): JsonObject[] {
    const id = String(message['tool_call_id']);
    const content: JsonObject[] = [];
    const points: JsonObject[] = [];
    // A result cannot contain a cache point: it follows the result.
    for (const block of this.contentOf(message, path)) ('cachePoint' in block ? points : content).push(block);
    const result = this.offersTools
      ? [{ toolResult: { toolUseId: id, content, ...this.statusOf(message) } }]
      : [{ text: `Result of the tool ${this.names.get(id) ?? id}:` }, ...content];
    return [...result, ...points.slice(-1)];
  }

  /** Bedrock refuses the status of a result for models of other vendors. */
  private statusOf(message: JsonObject): JsonObject {
    const hasStatus = this.family === 'anthropic' || this.family === 'nova';
    return hasStatus && message['is_error'] === true ? { status: 'error' } : {};
  }
}
