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

type Block = { readonly [key: string]: unknown };

export interface ReadMessages {
  readonly prompt: Prompt;
  /** The messages have tool calls or results. */
  readonly usesTools: boolean;
}

/** Reads the prompt of a request, in the order in which the model does: tools, system, messages. */
export function readPrompt(body: Block, rules: ModelRules): ReadMessages {
  const reader = new PromptReader(rules);
  const tools = isObject(body['toolConfig']) ? body['toolConfig']['tools'] : undefined;
  reader.blocks(tools, 'toolConfig.tools', (tool) => JSON.stringify(tool));
  reader.blocks(body['system'], 'system', (block, path) => `system\u0000${textOf(block['text'], path)}`);
  return reader.messages(body['messages']);
}

/** "DocumentBlock", `name`. */
const DOCUMENT_NAME = /^(?!.*\s\s)[a-zA-Z0-9\s\-()[\]]{1,200}$/;

/** What the model accepts. */
interface ModelRules {
  readonly vision: boolean;
  readonly imagesInResults: boolean;
  readonly callIds: RegExp;
}

class PromptReader {
  private readonly parts: { text: string; tokens: number }[] = [];
  private readonly cachePoints: CachePoint[] = [];
  private readonly images: ImageSize[] = [];
  private readonly documentNames = new Set<string>();
  private pages = 0;
  private usesTools = false;

  private readonly callIds = new Set<string>();

  constructor(private readonly rules: ModelRules) {}

  blocks(value: unknown, path: string, identify: (block: Block, path: string) => string): void {
    if (value === undefined) return;
    for (const [index, block] of blocksOf(value, path).entries()) {
      if (this.isCachePoint(block, `${path}.${index}`)) continue;
      const text = identify(block, `${path}.${index}`);
      this.parts.push({ text, tokens: countTokens(text) });
    }
  }

  messages(value: unknown): ReadMessages {
    const messages = blocksOf(value, 'messages');
    if (messages.length === 0) throw invalid('messages', 'A conversation must start with a user message.');
    let lastUserText = '';
    let lastRole: unknown;
    let endsWithToolResult = false;
    let openCalls = new Set<string>();
    for (const [index, message] of messages.entries()) {
      const { role } = message;
      if (role !== 'user' && role !== 'assistant')
        throw invalid(`messages.${index}.role`, 'is not a known role');
      if (index === 0 && role !== 'user')
        throw invalid('messages', 'A conversation must start with a user message.');
      if (role === lastRole) throw invalid('messages', 'roles must alternate between "user" and "assistant"');
      lastRole = role;
      const path = `messages.${index}.content`;
      const blocks = blocksOf(message['content'], path);
      if (blocks.length === 0) throw invalid(path, 'The content field is empty.');
      const results = blocks.flatMap(({ toolResult }) => (isObject(toolResult) ? [toolResult] : []));
      checkResults(results, openCalls, path, this.rules.callIds);
      openCalls = new Set();
      const texts: string[] = [];
      for (const [position, block] of blocks.entries()) {
        this.block(block, `${path}.${position}`, texts, openCalls);
      }
      if (texts.length === 0 && blocks.some((block) => 'document' in block))
        throw invalid(path, 'A text block is required with a document block.');
      if (role === 'user' && texts.length > 0) lastUserText = texts.join('\n');
      const last = blocks.findLast((block) => !('cachePoint' in block));
      endsWithToolResult = last !== undefined && 'toolResult' in last;
    }
    if (openCalls.size > 0) throw missingResults(openCalls);
    if (this.cachePoints.length > MAX_CACHE_POINTS) {
      throw invalid('messages', `at most ${MAX_CACHE_POINTS} cache points are allowed`);
    }
    const tokens = this.parts.reduce(
      (sum, part) => sum + part.tokens,
      TOKENS_PER_REPLY + messages.length * TOKENS_PER_MESSAGE,
    );
    const { parts, cachePoints, images, pages } = this;
    return {
      prompt: { tokens, parts, cachePoints, images, pages, lastUserText, endsWithToolResult },
      usesTools: this.usesTools,
    };
  }

  private isCachePoint({ cachePoint }: Block, path: string): boolean {
    if (!isObject(cachePoint)) return false;
    const { type, ttl } = cachePoint;
    if (type !== 'default' || (ttl !== undefined && ttl !== '5m' && ttl !== '1h')) {
      throw invalid(`${path}.cachePoint`, 'is not valid');
    }
    if (this.parts.length === 0) throw invalid(`${path}.cachePoint`, 'has nothing to cache');
    this.cachePoints.push({ parts: this.parts.length, lifetime: ttl === '1h' ? '1h' : '5m' });
    return true;
  }

  private block(block: Block, path: string, texts: string[], openCalls: Set<string>): void {
    if (this.isCachePoint(block, path)) return;
    const { toolUse, toolResult, reasoningContent, image, document } = block;
    if ('text' in block) {
      const text = textOf(block['text'], path);
      texts.push(text);
      this.parts.push({ text, tokens: countTokens(text) });
    } else if (isObject(toolUse)) {
      this.usesTools = true;
      if (!isObject(toolUse['input'])) throw invalid(`${path}.toolUse.input`, 'must be a JSON object');
      const id = toolUseIdOf(toolUse, path, this.rules.callIds);
      if (this.callIds.has(id)) throw invalid(path, 'toolUse ids must be unique.');
      this.callIds.add(id);
      if (!/^[a-zA-Z0-9_-]{1,64}$/.test(String(toolUse['name']))) {
        throw invalid(`${path}.toolUse.name`, 'does not match [a-zA-Z0-9_-]+');
      }
      openCalls.add(id);
      const text = JSON.stringify(toolUse);
      this.parts.push({ text, tokens: countTokens(text) });
    } else if (isObject(toolResult)) {
      this.usesTools = true;
      for (const [index, part] of blocksOf(toolResult['content'], `${path}.toolResult.content`).entries()) {
        this.block(part, `${path}.toolResult.content.${index}`, [], openCalls);
      }
    } else if (isObject(reasoningContent)) {
      this.parts.push({ text: checkReasoning(reasoningContent, path), tokens: 0 });
    } else if (isObject(image)) {
      this.image(image, path);
    } else if (isObject(document)) {
      this.document(document, path);
    } else {
      throw invalid(path, 'is not a known block');
    }
  }

  private document({ format, name, source }: Block, path: string): void {
    if (path.includes('toolResult') && !this.rules.imagesInResults) {
      throw invalid(path, "This model doesn't support the document field in tool results.");
    }
    if (!this.rules.vision) throw invalid(path, "This model doesn't support documents.");
    if (typeof name !== 'string' || !DOCUMENT_NAME.test(name)) {
      throw invalid(
        `${path}.document.name`,
        'The document file name can only contain alphanumeric characters, whitespace characters, hyphens, parentheses, and square brackets. The name cannot contain more than one consecutive whitespace character.',
      );
    }
    if (this.documentNames.has(name)) throw invalid(path, 'Messages contain duplicate document names.');
    this.documentNames.add(name);
    const bytes = isObject(source) ? source['bytes'] : undefined;
    const read = readDocument(`application/${String(format)}`, bytes, path);
    this.pages += read.pages;
    this.parts.push({ text: read.text, tokens: read.tokens });
  }

  private image({ format, source }: Block, path: string): void {
    if (path.includes('toolResult') && !this.rules.imagesInResults) {
      throw invalid(path, "This model doesn't support the image field in tool results.");
    }
    if (!this.rules.vision) throw invalid(path, "This model doesn't support the image content block.");
    const bytes = isObject(source) ? source['bytes'] : undefined;
    const size = readImageSize(`data:image/${String(format)};base64,${String(bytes)}`, path);
    this.images.push(size);
    this.parts.push({ text: `<image ${size.width}x${size.height}>`, tokens: imageTokens(size, false) });
  }
}

function blocksOf(value: unknown, path: string): readonly Block[] {
  if (!Array.isArray(value) || !value.every(isObject)) throw invalid(path, 'is not a list of objects');
  return value;
}

function textOf(text: unknown, path: string): string {
  if (typeof text !== 'string') throw invalid(`${path}.text`, 'is not a string');
  if (text.trim() === '') throw invalid(path, 'The text field in the ContentBlock object is blank.');
  return text;
}

function toolUseIdOf({ toolUseId }: Block, path: string, pattern: RegExp): string {
  if (typeof toolUseId === 'string' && pattern.test(toolUseId)) return toolUseId;
  throw invalid(`${path}.toolUseId`, 'does not match [a-zA-Z0-9_-]+');
}

/** @returns a text that identifies the block. */
function checkReasoning({ reasoningText, redactedContent }: Block, path: string): string {
  if (typeof redactedContent === 'string' && isRedacted(redactedContent)) return redactedContent;
  const { text, signature } = isObject(reasoningText) ? reasoningText : {};
  if (typeof text === 'string' && signature === signatureOf(text)) return String(signature);
  throw invalid(path, 'Invalid `signature` in `thinking` block');
}

function checkResults(
  results: readonly Block[],
  openCalls: ReadonlySet<string>,
  path: string,
  pattern: RegExp,
): void {
  const found = new Set(results.map((result) => toolUseIdOf(result, path, pattern)));
  const missing = new Set([...openCalls].filter((id) => !found.has(id)));
  if (missing.size > 0) throw missingResults(missing);
  if (found.size > openCalls.size) {
    throw invalid(
      path,
      'The number of toolResult blocks exceeds the number of toolUse blocks of previous turn.',
    );
  }
}

function missingResults(ids: ReadonlySet<string>) {
  return invalid('messages', `Expected toolResult blocks for the following Ids: ${[...ids].join(', ')}`);
}
