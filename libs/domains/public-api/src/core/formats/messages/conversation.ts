import { isRefusal, type Refusal } from '@gateway/errors';
import { DOCUMENT_NAME, readPdfData } from '../../chat-completion/documents/read-pdf-data';
import { readImageUrl } from '../../chat-completion/images/read-image-url';
import { invalidValue } from '../../chat-completion/rules/field-values';
import type { JsonObject, JsonValue } from '../../json/json-value';
import { type PackedReasoning, Unpacker } from '../packed-reasoning';

/** Translates the conversation of a request to the messages of a chat completion. */
export class Conversation {
  readonly messages: JsonObject[] = [];
  /** By `image_url` and `file`. */
  readonly partPaths = new Map<unknown, string>();
  private readonly unpacker = new Unpacker();

  /** @returns the first invalid image or document. */
  add(message: JsonObject, path: string): Refusal | undefined {
    const { role, content } = message;
    if (typeof content === 'string') {
      this.messages.push({ role: role as string, content });
      return undefined;
    }
    const blocks = content as JsonObject[];
    if (role === 'assistant') {
      this.addAssistant(blocks);
      return undefined;
    }
    return this.addUser(role as string, blocks, `${path}.content`);
  }

  /** Results of tools come first: they follow their calls in a chat completion. */
  private addUser(role: string, blocks: readonly JsonObject[], path: string): Refusal | undefined {
    const parts: JsonObject[] = [];
    for (const [index, block] of blocks.entries()) {
      const here = `${path}[${index}]`;
      if (block['type'] === 'tool_result') {
        const content = this.resultContent(block['content'], `${here}.content`);
        if (isRefusal(content)) return content;
        this.messages.push({
          role: 'tool',
          tool_call_id: block['tool_use_id'] as string,
          content,
          ...(block['is_error'] === true ? { is_error: true } : {}),
          ...pointOf(block),
        });
      } else {
        const read = this.parts(block, here);
        if (isRefusal(read)) return read;
        parts.push(...read);
      }
    }
    if (parts.length > 0) this.messages.push({ role, content: parts });
    else if (blocks.length === 0) this.messages.push({ role, content: '' });
    return undefined;
  }

  private resultContent(content: JsonValue | undefined, path: string): JsonValue | Refusal {
    if (!Array.isArray(content) || content.length === 0) return typeof content === 'string' ? content : '';
    const parts: JsonObject[] = [];
    for (const [index, block] of (content as JsonObject[]).entries()) {
      const read = this.parts(block, `${path}[${index}]`);
      if (isRefusal(read)) return read;
      parts.push(...read);
    }
    return parts;
  }

  private parts(block: JsonObject, path: string): JsonObject[] | Refusal {
    if (block['type'] === 'text') return [textPart(block)];
    if (block['type'] === 'document') return this.document(block, path);
    const source = block['source'] as JsonObject;
    const { url, media_type: label, data } = source;
    const read = readImageUrl(
      url === undefined ? `data:${String(label)};base64,${String(data)}` : String(url),
    );
    if ('text' in read) return [this.image(read.text, block, path)];
    return invalidValue(`${path}.source.${url === undefined ? 'data' : 'url'}`, read.problem);
  }

  private document(block: JsonObject, path: string): JsonObject[] | Refusal {
    const { source, title, context } = block;
    const { type, media_type: label, data } = source as JsonObject;
    const before: JsonObject[] = context === undefined ? [] : [{ type: 'text', text: context as string }];
    if (type === 'text') return [...before, { type: 'text', text: data as string, ...pointOf(block) }];
    const read = readPdfData(`data:${String(label)};base64,${String(data)}`);
    if (!('text' in read)) return invalidValue(`${path}.source.data`, read.problem);
    const file = { file_data: read.text, filename: (title ?? DOCUMENT_NAME) as string };
    this.partPaths.set(file, path);
    return [...before, { type: 'file', file, ...pointOf(block) }];
  }

  private image(url: string, block: JsonObject, path: string): JsonObject {
    const image = { url };
    this.partPaths.set(image, path);
    return { type: 'image_url', image_url: image, ...pointOf(block) };
  }

  /**
   * Thinking after other content starts another message, since a message of a chat completion starts with its reasoning.
   * Redacted blocks do not: Gemini's signature of a text follows the text.
   */
  private addAssistant(blocks: readonly JsonObject[]): void {
    const packed = blocks.map(({ signature, data }) => this.unpacker.unpack(String(signature ?? data ?? '')));
    const extras = new Map(packed.flatMap((each) => Object.entries(each?.calls ?? {})));
    let turn = new AssistantTurn(extras);
    for (const [index, block] of blocks.entries()) {
      if (block['type'] === 'thinking' && turn.speaks) {
        this.messages.push(turn.message());
        turn = new AssistantTurn(extras);
      }
      turn.add(block, packed[index]);
    }
    this.messages.push(turn.message());
  }
}

/** One assistant message of a chat completion. */
class AssistantTurn {
  private readonly parts: JsonObject[] = [];
  private readonly calls: JsonObject[] = [];
  private readonly details: JsonObject[] = [];
  private unsigned = '';

  /** @param extras `extra_content` of the calls, by the id of the call. */
  constructor(private readonly extras: ReadonlyMap<string, JsonValue>) {}

  /** Whether it has text. After a call, the rest of the turn belongs to it: the results follow. */
  get speaks(): boolean {
    return this.parts.length > 0 && this.calls.length === 0;
  }

  /** @param packed what its signature or data contains, if that is packed. */
  add(block: JsonObject, packed: PackedReasoning | undefined): void {
    switch (block['type']) {
      case 'text':
        this.parts.push(textPart(block));
        return;
      case 'tool_use': {
        const { id, name, input } = block;
        const extra = this.extras.get(id as string);
        this.calls.push({
          id: id as string,
          type: 'function',
          function: { name: name as string, arguments: JSON.stringify(input) },
          ...(extra === undefined ? {} : { extra_content: extra }),
          ...pointOf(block),
        });
        return;
      }
      case 'thinking':
        this.addThinking(block['thinking'] as string, (block['signature'] ?? '') as string, packed);
        return;
      default: {
        const data = block['data'] as string;
        this.details.push(...(packed ? (packed.details ?? []) : [{ type: 'reasoning.encrypted', data }]));
      }
    }
  }

  message(): JsonObject {
    return {
      role: 'assistant',
      ...(this.parts.length === 0 && this.calls.length > 0 ? {} : { content: contentOf(this.parts) }),
      ...(this.unsigned === '' ? {} : { reasoning_content: this.unsigned }),
      ...(this.details.length === 0 ? {} : { reasoning_details: this.details }),
      ...(this.calls.length === 0 ? {} : { tool_calls: this.calls }),
    };
  }

  private addThinking(text: string, signature: string, packed: PackedReasoning | undefined): void {
    if (signature === '') this.unsigned += text;
    // Its text is readable in the block, and packed only once.
    else if (packed) this.details.push(...(packed.details ?? []).map((detail) => ({ ...detail, text })));
    else this.details.push({ type: 'reasoning.text', text, signature });
  }
}

export function textPart(block: JsonObject): JsonObject {
  return { type: 'text', text: block['text'] as string, ...pointOf(block) };
}

function pointOf({ cache_control: point }: JsonObject): JsonObject {
  return point === undefined ? {} : { cache_control: point };
}

function contentOf(parts: JsonObject[]): JsonValue {
  return parts.length === 0 ? '' : parts;
}
