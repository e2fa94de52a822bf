import { readDocument, type ReadDocument } from './documents';
import { badRequest } from './errors';
import { imageTokens, readImageSize, type ImageSize } from './images';
import { isObject } from './json-schema';
import { countTokens } from './tokens';

/** The parsed messages of a request, with their tokens. */
export interface Prompt {
  /** Tokens of all messages: 3 each, their text and names, images by the tile rule, and 3 for the reply. */
  readonly tokens: number;
  /** Per message: a text that identifies it, and its tokens. Used for the seed and for prefix caching. */
  readonly parts: readonly { readonly text: string; readonly tokens: number }[];
  /** The points up to which the prompt is cached, in order; undefined: all prefixes of whole messages are. */
  readonly cachePoints?: readonly CachePoint[];
  readonly images: readonly ImageSize[];
  /** The pages of all documents. */
  readonly pages: number;
  readonly lastUserText: string;
  /** The last message is a tool result. */
  readonly endsWithToolResult: boolean;
}

/** The end of a cached prefix. */
export interface CachePoint {
  /** The number of parts that precede it. */
  readonly parts: number;
  readonly lifetime: '5m' | '1h';
}

const TOKENS_PER_MESSAGE = 3;
const TOKENS_PER_REPLY = 3;
const ROLES = new Set(['system', 'developer', 'user', 'assistant', 'tool']);

interface ReadContent {
  readonly text: string;
  readonly images: readonly ImageSize[];
  readonly pages: number;
  readonly tokens: number;
}

/** Parses `messages`. Throws a 400 with OpenAI's text and the path of the invalid part. */
export function readMessages(value: unknown, vision: boolean): Prompt {
  if (value === undefined) {
    throw badRequest("Missing required parameter: 'messages'.", 'messages', 'missing_required_parameter');
  }
  if (!Array.isArray(value))
    throw badRequest("Invalid type for 'messages': expected an array.", 'messages', 'invalid_type');
  if (value.length === 0) {
    throw badRequest(
      "Invalid 'messages': empty array. Expected an array with minimum length 1.",
      'messages',
      'empty_array',
    );
  }
  const parts: { text: string; tokens: number }[] = [];
  const images: ImageSize[] = [];
  let pages = 0;
  const openCalls = new Set<string>();
  let lastUserText = '';
  let lastRole = '';
  let tokens = TOKENS_PER_REPLY;
  value.forEach((message: unknown, index) => {
    const role = isObject(message) ? message['role'] : undefined;
    if (!isObject(message) || typeof role !== 'string' || !ROLES.has(role)) {
      throw badRequest(
        `Invalid value: '${String(role)}'. Supported values are: ${[...ROLES].map((one) => `'${one}'`).join(', ')}.`,
        `messages[${index}].role`,
        'invalid_value',
      );
    }
    checkToolOrder(message, role, openCalls, index);
    const content = readContent(message, role, vision, index);
    const calls = message['tool_calls'] === undefined ? '' : JSON.stringify(message['tool_calls']);
    const named = typeof message['name'] === 'string' ? countTokens(message['name']) + 1 : 0;
    const messageTokens =
      TOKENS_PER_MESSAGE + content.tokens + named + (calls === '' ? 0 : countTokens(calls));
    tokens += messageTokens;
    images.push(...content.images);
    pages += content.pages;
    parts.push({ text: `${role}\u0000${content.text}\u0000${calls}`, tokens: messageTokens });
    if (role === 'user') lastUserText = content.text;
    lastRole = role;
  });
  if (openCalls.size > 0) throw missingToolResults(openCalls, value.length);
  return { tokens, parts, images, pages, lastUserText, endsWithToolResult: lastRole === 'tool' };
}

function missingToolResults(openCalls: ReadonlySet<string>, index: number) {
  return badRequest(
    "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. " +
      `The following tool_call_ids did not have response messages: ${[...openCalls].join(', ')}`,
    `messages[${index}].role`,
  );
}

function checkToolOrder(
  message: { [key: string]: unknown },
  role: string,
  openCalls: Set<string>,
  index: number,
): void {
  if (role === 'tool') {
    if (typeof message['tool_call_id'] !== 'string' || !openCalls.delete(message['tool_call_id'])) {
      throw badRequest(
        "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.",
        `messages[${index}].role`,
      );
    }
    return;
  }
  if (openCalls.size > 0) throw missingToolResults(openCalls, index);
  const calls = message['tool_calls'];
  if (role !== 'assistant' || !Array.isArray(calls)) return;
  for (const call of calls) {
    if (!isObject(call) || typeof call['id'] !== 'string') continue;
    openCalls.add(call['id']);
  }
}

function readContent(
  message: { [key: string]: unknown },
  role: string,
  vision: boolean,
  index: number,
): ReadContent {
  const content = message['content'];
  const path = `messages[${index}].content`;
  if (typeof content === 'string')
    return { text: content, images: [], pages: 0, tokens: countTokens(content) };
  if (content === undefined || content === null) {
    if (role === 'assistant') return { text: '', images: [], pages: 0, tokens: 0 };
    throw badRequest(`Invalid value for 'content': expected a string, got null.`, path, 'invalid_type');
  }
  if (!Array.isArray(content))
    throw badRequest(`Invalid type for '${path}': expected a string or an array.`, path, 'invalid_type');
  const images: ImageSize[] = [];
  const texts: string[] = [];
  let pages = 0;
  let tokens = 0;
  content.forEach((part: unknown, position) => {
    const place = `${path}[${position}]`;
    if (isObject(part) && part['type'] === 'text' && typeof part['text'] === 'string') {
      texts.push(part['text']);
      tokens += countTokens(part['text']);
    } else if (isRefusal(part, role)) {
      texts.push(part.refusal);
      tokens += countTokens(part.refusal);
    } else if (isObject(part) && part['type'] === 'image_url' && isObject(part['image_url'])) {
      if (!vision) throw badRequest('This model does not support image inputs.', place, 'unsupported_value');
      const { url, detail } = part['image_url'];
      const size = readImageSize(typeof url === 'string' ? url : '', `${place}.image_url.url`);
      images.push(size);
      tokens += imageTokens(size, detail === 'low');
      texts.push(`<image ${size.width}x${size.height}>`);
    } else if (isObject(part) && part['type'] === 'file' && isObject(part['file'])) {
      const document = readFilePart(part['file'], vision, place);
      pages += document.pages;
      tokens += document.tokens;
      texts.push(document.text);
    } else {
      throw badRequest(`Invalid value: unsupported content part.`, `${place}.type`, 'invalid_value');
    }
  });
  return { text: texts.join('\n'), images, pages, tokens };
}

function readFilePart(file: { [key: string]: unknown }, vision: boolean, place: string): ReadDocument {
  if (!vision) throw badRequest('This model does not support file content types.', place, 'invalid_value');
  const { file_data: data, filename } = file;
  if (typeof filename !== 'string' || filename === '')
    throw badRequest(
      `Missing required parameter: '${place}.file.filename'.`,
      place,
      'missing_required_parameter',
    );
  const [head = '', base64] = typeof data === 'string' ? data.split(',') : [];
  return readDocument(/^data:([^;]+);base64$/.exec(head)?.[1], base64, `${place}.file.file_data`);
}

function isRefusal(part: unknown, role: string): part is { readonly refusal: string } {
  return (
    role === 'assistant' &&
    isObject(part) &&
    part['type'] === 'refusal' &&
    typeof part['refusal'] === 'string'
  );
}
