import { asObject, textOf, type JsonObject } from '../../completion/json';
import { readCachePoint, type Cacheable } from './cache-points';
import { PDF_TYPE, readDocument } from '../documents';
import { refused } from '../failures';
import { argumentsObject } from '../lenient-arguments';
import { FIRST_QUESTION } from '../vendor-rules';

/** A content block of the Messages API. */
interface Block extends Cacheable {
  readonly type: string;
  readonly [field: string]: unknown;
}

export interface Turn {
  readonly role: 'user' | 'assistant';
  readonly content: Block[];
}

export interface EncodedMessages {
  readonly system: readonly Block[];
  /** Roles alternate. */
  readonly turns: readonly Turn[];
}

/**
 * Divides messages into the system prompt and alternating turns. The provider refuses empty text, so it is omitted.
 *
 * @throws UpstreamFailure `rejected` for content that the Messages API cannot express.
 */
export function encodeMessages(messages: readonly JsonObject[]): EncodedMessages {
  let system: Block[] = [];
  let turns: Turn[] = [];
  for (const message of messages) {
    const role = message['role'];
    const blocks = blocksOf(message);
    if (role === 'system' || role === 'developer') system.push(...blocks);
    else addTurn(turns, role === 'assistant' ? 'assistant' : 'user', blocks);
  }
  if (turns.length === 0 && system.length > 0) {
    // The provider requires a turn. Instructions without a question are the question.
    turns = [{ role: 'user', content: system }];
    system = [];
  }
  if (turns.length === 0) throw refused('messages', 'At least one message must have text or an image.');
  if (turns[0]?.role === 'assistant') {
    turns.unshift({ role: 'user', content: [{ type: 'text', text: FIRST_QUESTION }] });
  }
  return { system, turns: withoutTrailingSpace(turns) };
}

function blocksOf(message: JsonObject): Block[] {
  switch (message['role']) {
    case 'assistant':
      return assistantBlocks(message);
    case 'tool':
      return [toolResult(message)];
    case 'user':
      return contentBlocks(message, { acceptsImages: true });
    default:
      return contentBlocks(message, { acceptsImages: false });
  }
}

function addTurn(turns: Turn[], role: Turn['role'], blocks: readonly Block[]): void {
  if (blocks.length === 0) return;
  const last = turns.at(-1);
  if (last?.role === role) last.content.push(...blocks);
  else turns.push({ role, content: [...blocks] });
}

function contentBlocks(message: JsonObject, { acceptsImages }: { readonly acceptsImages: boolean }): Block[] {
  const content = message['content'];
  if (typeof content === 'string') return textBlocks(content);
  const parts: readonly unknown[] = Array.isArray(content) ? content : [];
  return parts.flatMap((value) => {
    const part = asObject(value) ?? {};
    const blocks = partBlocks(part, acceptsImages);
    const point = readCachePoint(part);
    for (const block of blocks) if (point) block.cache_control = point;
    return blocks;
  });
}

function partBlocks(part: JsonObject, acceptsImages: boolean): Block[] {
  switch (part['type']) {
    case 'text':
      return textBlocks(part['text']);
    case 'refusal':
      return textBlocks(part['refusal']);
    case 'image_url':
      if (!acceptsImages)
        throw refused('messages', 'This model accepts images only in user and tool messages.');
      return [imageBlock(asObject(part['image_url'])?.['url'])];
    case 'file':
      if (!acceptsImages)
        throw refused('messages', 'This model accepts documents only in user and tool messages.');
      return [documentBlock(part['file'])];
    default:
      throw refused(
        'messages',
        `This model does not support content parts of the type '${String(part['type'])}'.`,
      );
  }
}

function textBlocks(text: unknown): Block[] {
  return typeof text === 'string' && /\S/.test(text) ? [{ type: 'text', text }] : [];
}

function imageBlock(url: unknown): Block {
  const link = textOf(url);
  if (!link.startsWith('data:')) return { type: 'image', source: { type: 'url', url: link } };
  const comma = link.indexOf(',');
  const mediaType = link.slice('data:'.length, comma).replace(/;base64$/, '');
  return { type: 'image', source: { type: 'base64', media_type: mediaType, data: link.slice(comma + 1) } };
}

function documentBlock(file: unknown): Block {
  const document = readDocument(file);
  if (!document)
    throw refused('messages', 'Documents must be base64 data: URIs of the type application/pdf.');
  const { name, data } = document;
  return { type: 'document', source: { type: 'base64', media_type: PDF_TYPE, data }, title: name };
}

function toolResult(message: JsonObject): Block {
  const content = contentBlocks(message, { acceptsImages: true });
  const block: Block = {
    type: 'tool_result',
    tool_use_id: message['tool_call_id'],
    ...(message['is_error'] === true ? { is_error: true } : {}),
  };
  const point = content.findLast(({ cache_control }) => cache_control !== undefined)?.cache_control;
  if (point) block.cache_control = point;
  // The cache point of the result itself: one in its content would count, too.
  for (const part of content) delete part.cache_control;
  return content.length === 0 ? block : { ...block, content };
}

function assistantBlocks(message: JsonObject): Block[] {
  const spoken = [...contentBlocks(message, { acceptsImages: false }), ...textBlocks(message['refusal'])];
  const calls = Array.isArray(message['tool_calls']) ? (message['tool_calls'] as unknown[]).map(toolUse) : [];
  const blocks = [...spoken, ...calls];
  // The provider refuses a turn of thinking alone.
  return blocks.length === 0 ? [] : [...thinkingBlocks(message['reasoning_details']), ...blocks];
}

function toolUse(value: unknown): Block {
  const call = asObject(value) ?? {};
  const called = asObject(call['function']) ?? {};
  const point = readCachePoint(call);
  return {
    type: 'tool_use',
    id: call['id'],
    name: called['name'],
    input: argumentsObject(called['arguments']),
    ...(point === undefined ? {} : { cache_control: point }),
  };
}

/**
 * The signed and redacted thinking of a turn. The provider refuses thinking without a signature, so it is omitted.
 * Entries that are parts of a stream are joined by their index.
 */
function thinkingBlocks(details: unknown): Block[] {
  const blocks: Block[] = [];
  let open: { index: unknown; text: string; signature: string } | undefined;
  const close = () => {
    if (open && open.signature !== '') {
      blocks.push({ type: 'thinking', thinking: open.text, signature: open.signature });
    }
    open = undefined;
  };
  for (const value of Array.isArray(details) ? (details as unknown[]) : []) {
    const detail = asObject(value) ?? {};
    const index = detail['index'];
    if (detail['type'] === 'reasoning.text') {
      if (open === undefined || index === undefined || index !== open.index) {
        close();
        open = { index, text: '', signature: '' };
      }
      open.text += textOf(detail['text']);
      open.signature += textOf(detail['signature']);
    } else if (detail['type'] === 'reasoning.encrypted' && textOf(detail['data']) !== '') {
      close();
      blocks.push({ type: 'redacted_thinking', data: detail['data'] });
    }
  }
  close();
  return blocks;
}

export function isThinking(type: string): boolean {
  return type === 'thinking' || type === 'redacted_thinking';
}

/** The provider continues a last assistant turn, and refuses white space at its end. */
function withoutTrailingSpace(turns: readonly Turn[]): readonly Turn[] {
  const last = turns.at(-1);
  const block = last?.content.at(-1);
  if (last?.role !== 'assistant' || block?.type !== 'text') return turns;
  const content = [...last.content.slice(0, -1), { ...block, text: textOf(block['text']).trimEnd() }];
  return [...turns.slice(0, -1), { role: 'assistant', content }];
}
