import type { Refusal } from '@gateway/errors';
import { invalidValue } from '../../chat-completion/rules/field-values';
import type { JsonObject, JsonValue } from '../../json/json-value';
import { type PackedReasoning, Unpacker } from '../packed-reasoning';
import { customArguments } from './custom-tools';

/** Translates the items of a request to the messages of a chat completion. */
export class Conversation {
  readonly messages: JsonObject[] = [];
  /** By `image_url` and `file`. */
  readonly partPaths = new Map<unknown, string>();
  /** The refusal of a document in a message of the assistant. */
  refusal: Refusal | undefined;
  private readonly unpacker = new Unpacker();
  /** The parts of the assistant's turn: they are one message of a chat completion. */
  private turn: Turn | undefined;

  add(item: JsonObject, path: string): void {
    const { role, call_id: id, name } = item;
    switch (item['type']) {
      case 'function_call':
        this.assistant().addCall(id, name, item['arguments'] as string);
        return;
      case 'custom_tool_call':
        this.assistant().addCall(id, name, customArguments(item['input'] as string));
        return;
      case 'reasoning':
        this.addReasoning(item);
        return;
      case 'function_call_output':
      case 'custom_tool_call_output':
        this.endTurn();
        this.messages.push({
          role: 'tool',
          tool_call_id: id as string,
          content: this.contentOf(item['output'], `${path}.output`),
        });
        return;
      default: {
        const content = this.contentOf(item['content'], `${path}.content`);
        if (role === 'assistant') {
          this.refuseDocuments(item['content'], `${path}.content`);
          this.assistant().addContent(content);
        } else {
          this.endTurn();
          this.messages.push({ role: role as string, content });
        }
      }
    }
  }

  private refuseDocuments(content: JsonValue | undefined, path: string): void {
    if (!Array.isArray(content)) return;
    const index = (content as JsonObject[]).findIndex(({ type }) => type === 'input_file');
    if (index !== -1)
      this.refusal ??= invalidValue(`${path}[${index}].type`, 'only messages of other roles have files.');
  }

  /** The last turn may be the assistant's. */
  endTurn(): void {
    // Reasoning alone is no turn for a provider.
    if (this.turn?.hasOutput || (this.turn && this.messages.length === 0))
      this.messages.push(this.turn.message());
    this.turn = undefined;
  }

  private assistant(): Turn {
    return (this.turn ??= new Turn());
  }

  /**
   * Signed thinking after other output starts another message, since a message of a chat completion starts with it.
   * Gemini's signature of a text follows the text.
   */
  private addReasoning({ summary, content, encrypted_content: encrypted }: JsonObject): void {
    const packed = this.unpacker.unpack((encrypted ?? '') as string) ?? {};
    const isThinking = packed.details?.some(({ type }) => type === 'reasoning.text');
    if (isThinking && this.turn?.speaks) this.endTurn();
    const parts = [summary, content].find((each) => Array.isArray(each) && each.length > 0);
    const texts = ((parts ?? []) as JsonObject[]).map((part) => part['text'] as string);
    this.assistant().addReasoning(packed, texts.join(''));
  }

  private contentOf(content: JsonValue | undefined, path: string): JsonValue {
    if (!Array.isArray(content) || content.length === 0) return typeof content === 'string' ? content : '';
    return (content as JsonObject[]).map((part, index) => this.part(part, `${path}[${index}]`));
  }

  private part(part: JsonObject, path: string): JsonObject {
    const { prompt_cache_breakpoint: point } = part;
    const pointed: JsonObject = point === undefined ? {} : { prompt_cache_breakpoint: point };
    switch (part['type']) {
      case 'input_image': {
        const { detail } = part;
        const image: JsonObject = {
          url: part['image_url'] as string,
          ...(detail === undefined ? {} : { detail: detail === 'original' ? 'high' : detail }),
        };
        this.partPaths.set(image, path);
        return { type: 'image_url', image_url: image, ...pointed };
      }
      case 'input_file': {
        const file = { file_data: part['file_data'] as string, filename: part['filename'] as string };
        this.partPaths.set(file, path);
        return { type: 'file', file, ...pointed };
      }
      case 'refusal':
        // Only assistants refuse in a chat completion; clients repeat whole conversations.
        return { type: 'text', text: part['refusal'] as string };
      default:
        return { type: 'text', text: part['text'] as string, ...pointed };
    }
  }
}

/** The assistant's turn: one message of a chat completion. */
class Turn {
  private readonly content: JsonValue[] = [];
  private readonly calls: JsonObject[] = [];
  private readonly details: JsonObject[] = [];
  /** `extra_content` of the calls, by the id of the call. */
  private readonly extras = new Map<string, JsonValue>();
  private readable = '';

  get hasOutput(): boolean {
    return this.content.length + this.calls.length > 0;
  }

  /** Whether it has text. After a call, the rest of the turn belongs to it: the outputs follow. */
  get speaks(): boolean {
    return this.content.length > 0 && this.calls.length === 0;
  }

  addContent(content: JsonValue): void {
    if (Array.isArray(content)) for (const part of content) this.content.push(part);
    else if (content !== '') this.content.push({ type: 'text', text: content });
  }

  addCall(id: JsonValue | undefined, name: JsonValue | undefined, text: string): void {
    this.calls.push({
      id: id as string,
      type: 'function',
      function: { name: name as string, arguments: text },
    });
  }

  addReasoning({ details = [], calls = {} }: PackedReasoning, readable: string): void {
    this.details.push(...details);
    for (const [id, extra] of Object.entries(calls)) this.extras.set(id, extra);
    this.readable += readable;
  }

  message(): JsonObject {
    const calls = this.calls.map((call) => {
      const extra = this.extras.get(call['id'] as string);
      return extra === undefined ? call : { ...call, extra_content: extra };
    });
    return {
      role: 'assistant',
      ...(this.content.length === 0 && calls.length > 0 ? {} : { content: this.textOrParts() }),
      ...(this.readable === '' ? {} : { reasoning_content: this.readable }),
      ...(this.details.length === 0 ? {} : { reasoning_details: this.details }),
      ...(calls.length === 0 ? {} : { tool_calls: calls }),
    };
  }

  private textOrParts(): JsonValue {
    return this.content.length === 0 ? '' : this.content;
  }
}
