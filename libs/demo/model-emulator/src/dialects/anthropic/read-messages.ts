import { readDocument } from '../../documents';
import { imageTokens, readImageSize, type ImageSize } from '../../images';
import { isObject } from '../../json-schema';
import type { CachePoint, Prompt } from '../../messages';
import { countTokens } from '../../tokens';
import { invalid } from './errors';
import { isRedacted, signatureOf } from './signature';

const TOKENS_PER_MESSAGE = 3;
const TOKENS_PER_REPLY = 3;
const MAX_CACHE_POINTS = 4;

interface Object {
  readonly [key: string]: unknown;
}

export interface ReadMessages {
  readonly prompt: Prompt;
  /** Tools are called in the messages. */
  readonly usesTools: boolean;
  /** The type of the first block of the tool loop that the request continues; undefined: it continues none. */
  readonly loopStart: string | undefined;
}

/** Reads the prompt of a request, in the order in which the model does: tools, system, messages. */
export function readPrompt(body: Object, vision: boolean): ReadMessages {
  const reader = new PromptReader(vision);
  reader.tools(body['tools']);
  reader.system(body['system']);
  return reader.messages(body['messages']);
}

class PromptReader {
  private readonly parts: { text: string; tokens: number }[] = [];
  private readonly cachePoints: CachePoint[] = [];
  private readonly images: ImageSize[] = [];
  private pages = 0;
  private usesTools = false;
  private readonly callIds = new Set<string>();

  constructor(private readonly vision: boolean) {}

  tools(tools: unknown): void {
    if (!Array.isArray(tools)) return;
    for (const [index, tool] of tools.entries()) {
      const text = JSON.stringify(tool);
      this.add(text, countTokens(text), tool, `tools.${index}`);
    }
  }

  system(system: unknown): void {
    if (system === undefined) return;
    for (const [index, block] of blocksOf(system, 'system').entries()) {
      const path = `system.${index}`;
      if (block['type'] !== 'text') throw invalid(`${path}.type`, 'Input should be text');
      const text = this.text(block, path);
      this.add(`system\u0000${text}`, countTokens(text), block, path);
    }
  }

  messages(messages: unknown): ReadMessages {
    if (!Array.isArray(messages) || messages.length === 0) {
      throw invalid('messages', 'at least one message is required');
    }
    let openCalls = new Set<string>();
    let lastUserText = '';
    let loopStart: string | undefined;
    let endsWithToolResult = false;
    for (const [index, message] of messages.entries()) {
      const path = `messages.${index}`;
      const role = isObject(message) ? message['role'] : undefined;
      if (!isObject(message) || (role !== 'user' && role !== 'assistant')) {
        throw invalid(`${path}.role`, "Input should be 'user' or 'assistant'");
      }
      if (index === 0 && role !== 'user') throw invalid('messages', 'first message must use the "user" role');
      const blocks = blocksOf(message['content'], `${path}.content`);
      checkToolResults(blocks, openCalls, path);
      openCalls = new Set();
      const texts: string[] = [];
      for (const [position, block] of blocks.entries()) {
        this.block(role, block, `${path}.content.${position}`, openCalls, texts);
      }
      const last = blocks.at(-1)?.['type'];
      if (role === 'user') {
        if (texts.length > 0) lastUserText = texts.join('\n');
        if (!blocks.some(({ type }) => type === 'tool_result')) loopStart = undefined;
        endsWithToolResult = last === 'tool_result';
      } else {
        if (last === 'thinking' || last === 'redacted_thinking') {
          throw invalid(`${path}`, 'The final block in an assistant message cannot be `thinking`.');
        }
        loopStart ??= String(blocks[0]?.['type']);
        endsWithToolResult = false;
      }
    }
    if (openCalls.size > 0) throw missingResults(openCalls, `messages.${messages.length - 1}`);
    checkEnd(messages);
    if (this.cachePoints.length > MAX_CACHE_POINTS) {
      throw invalid(
        'messages',
        `A maximum of 4 blocks with cache_control may be provided. Found ${this.cachePoints.length}.`,
      );
    }
    const tokens =
      TOKENS_PER_REPLY +
      messages.length * TOKENS_PER_MESSAGE +
      this.parts.reduce((sum, part) => sum + part.tokens, 0);
    const prompt = {
      tokens,
      parts: this.parts,
      cachePoints: this.cachePoints,
      images: this.images,
      pages: this.pages,
      lastUserText,
      endsWithToolResult,
    };
    return { prompt, usesTools: this.usesTools, loopStart };
  }

  private block(role: string, block: Object, path: string, openCalls: Set<string>, texts: string[]): void {
    switch (`${role} ${String(block['type'])}`) {
      case 'user text':
      case 'assistant text': {
        const text = this.text(block, path);
        texts.push(text);
        this.add(`${role}\u0000${text}`, countTokens(text), block, path);
        return;
      }
      case 'user image': {
        const { text, tokens } = this.image(block, path);
        this.add(`${role}\u0000${text}`, tokens, block, path);
        return;
      }
      case 'user document': {
        const { text, tokens } = this.document(block, path);
        this.add(`${role}\u0000${text}`, tokens, block, path);
        return;
      }
      case 'user tool_result': {
        const { text, tokens } = this.result(block, path);
        this.add(`tool\u0000${text}`, tokens, block, path);
        return;
      }
      case 'assistant tool_use': {
        const { id, name, input } = block;
        if (typeof id !== 'string' || !/^[a-zA-Z0-9_-]+$/.test(id)) {
          throw invalid(`${path}.id`, "String should match pattern '^[a-zA-Z0-9_-]+$'");
        }
        if (typeof name !== 'string' || !/^[a-zA-Z0-9_-]{1,128}$/.test(name)) {
          throw invalid(`${path}.name`, "String should match pattern '^[a-zA-Z0-9_-]{1,128}$'");
        }
        if (!isObject(input)) {
          throw invalid(`${path}.input`, 'Input should be a valid dictionary');
        }
        if (this.callIds.has(id)) throw invalid('messages', '`tool_use` ids must be unique');
        this.callIds.add(id);
        openCalls.add(id);
        this.usesTools = true;
        const text = name + JSON.stringify(input);
        this.add(`call\u0000${text}`, countTokens(text), block, path);
        return;
      }
      case 'assistant thinking':
      case 'assistant redacted_thinking':
        this.thinking(block, path);
        return;
      default:
        throw invalid(`${path}.type`, `Input tag '${String(block['type'])}' is not accepted of '${role}'`);
    }
  }

  private text(block: Object, path: string): string {
    const text = block['text'];
    if (typeof text !== 'string') throw invalid(`${path}.text`, 'Field required');
    if (text === '') throw invalid('messages', 'text content blocks must be non-empty');
    if (!/\S/.test(text)) throw invalid('messages', 'text content blocks must contain non-whitespace text');
    return text;
  }

  private image(block: Object, path: string): { text: string; tokens: number } {
    const source = isObject(block['source']) ? block['source'] : {};
    if (!this.vision) throw invalid(path, 'this model does not support image input');
    if (source['type'] !== 'base64') throw invalid(`${path}.source`, 'the emulator does not read links');
    const url = `data:${String(source['media_type'])};base64,${String(source['data'])}`;
    const size = readImageSize(url, `${path}.source`);
    this.images.push(size);
    return { text: `<image ${size.width}x${size.height}>`, tokens: imageTokens(size, false) };
  }

  private document(block: Object, path: string): { text: string; tokens: number } {
    const source = isObject(block['source']) ? block['source'] : {};
    const { title } = block;
    if (!this.vision) throw invalid(path, 'this model does not support document input');
    if (source['type'] !== 'base64') throw invalid(`${path}.source`, 'the emulator reads base64 only');
    if (title !== undefined && (typeof title !== 'string' || title === '' || title.length > 500))
      throw invalid(`${path}.title`, 'String should have 1 to 500 characters');
    const { pages, text, tokens } = readDocument(source['media_type'], source['data'], `${path}.source`);
    this.pages += pages;
    return { text, tokens };
  }

  private result(block: Object, path: string): { text: string; tokens: number } {
    this.usesTools = true;
    let text = '';
    let tokens = 0;
    const content = block['content'];
    for (const part of content === undefined ? [] : blocksOf(content, `${path}.content`)) {
      if (part['type'] === 'image' || part['type'] === 'document') {
        const read = part['type'] === 'image' ? this.image : this.document;
        const own = read.call(this, part, `${path}.content`);
        text += own.text;
        tokens += own.tokens;
      } else {
        const own = this.text(part, `${path}.content`);
        text += own;
        tokens += countTokens(own);
      }
    }
    return { text, tokens };
  }

  private thinking(block: Object, path: string): void {
    const { thinking, signature, data, cache_control } = block;
    if (cache_control !== undefined) {
      throw invalid(`${path}.cache_control`, 'Extra inputs are not permitted');
    }
    if (block['type'] === 'redacted_thinking') {
      if (typeof data !== 'string' || !isRedacted(data)) {
        throw invalid(path, 'Invalid `data` in `redacted_thinking` block');
      }
      this.parts.push({ text: data, tokens: countTokens(data) });
    } else {
      // The text that was not displayed is in the signature only.
      if (typeof thinking !== 'string' || signature !== signatureOf(thinking)) {
        throw invalid(path, 'Invalid `signature` in `thinking` block');
      }
      this.parts.push({ text: thinking, tokens: countTokens(thinking) });
    }
  }

  private add(text: string, tokens: number, block: unknown, path: string): void {
    this.parts.push({ text, tokens });
    const control = isObject(block) ? block['cache_control'] : undefined;
    if (control === undefined || control === null) return;
    const { type, ttl = '5m' } = isObject(control) ? control : {};
    if (type !== 'ephemeral' || (ttl !== '5m' && ttl !== '1h')) {
      throw invalid(`${path}.cache_control`, "Input should be 'ephemeral' with a ttl of '5m' or '1h'");
    }
    this.cachePoints.push({ parts: this.parts.length, lifetime: ttl });
  }
}

function blocksOf(content: unknown, path: string): readonly Object[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  if (!Array.isArray(content) || content.length === 0 || !content.every(isObject)) {
    throw invalid(path, 'Input should be a valid string or a non-empty list');
  }
  return content;
}

/** A message after calls starts with all of their results; no other has one. */
function checkToolResults(blocks: readonly Object[], openCalls: ReadonlySet<string>, path: string): void {
  const missing = new Set(openCalls);
  for (const [position, { type, tool_use_id }] of blocks.entries()) {
    if (type !== 'tool_result') {
      if (missing.size > 0) throw missingResults(missing, path);
    } else if (!missing.delete(String(tool_use_id))) {
      throw invalid(
        `${path}.content.${position}`,
        `unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${String(tool_use_id)}`,
      );
    }
  }
  if (missing.size > 0) throw missingResults(missing, path);
}

function missingResults(missing: ReadonlySet<string>, path: string) {
  return invalid(
    path,
    `\`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${[...missing].join(', ')}`,
  );
}

function checkEnd(messages: readonly unknown[]): void {
  const last = messages.at(-1);
  if (!isObject(last) || last['role'] !== 'assistant') return;
  const block = blocksOf(last['content'], 'messages').at(-1);
  if (typeof block?.['text'] === 'string' && /\s$/.test(block['text'])) {
    throw invalid('messages', 'final assistant content cannot end with trailing whitespace');
  }
}
