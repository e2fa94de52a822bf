import { asObject, type JsonObject } from '../../completion/json';
import { PDF_TYPE, readDocument } from '../documents';
import { refused, refusedValue } from '../failures';
import { argumentsObject } from '../lenient-arguments';
import { FIRST_QUESTION } from '../vendor-rules';
import { parseTextSignature, signedParts, type TextSignature } from './text-signature';

/** Google's documented signature for a function call that lost its own: without any, Gemini 3 rejects the request. */
const SKIP_VALIDATION = 'skip_thought_signature_validator';

export interface EncodedMessages {
  readonly contents: readonly JsonObject[];
  readonly systemInstruction?: JsonObject;
}

/** A content that is being built. */
interface Content extends JsonObject {
  readonly role: 'user' | 'model';
  readonly parts: readonly JsonObject[];
}

/** Encodes `messages`. Instructions become the `systemInstruction`, wherever they are. */
export function encodeMessages(value: unknown): EncodedMessages {
  const messages = (Array.isArray(value) ? (value as unknown[]) : []).map(
    (message) => asObject(message) ?? {},
  );
  const turnStart = messages.findLastIndex((message) => message['role'] === 'user');
  const instructions: JsonObject[] = [];
  const contents: Content[] = [];
  const calls = new CalledFunctions();
  for (const [index, message] of messages.entries()) {
    const path = `messages[${index}]`;
    switch (message['role']) {
      case 'system':
      case 'developer':
        instructions.push(...instructionParts(message['content'], path));
        break;
      case 'assistant': {
        const parts = modelParts(message, path, index > turnStart);
        if (parts.length > 0 && contents.length === 0)
          contents.push({ role: 'user', parts: [{ text: FIRST_QUESTION }] });
        calls.start(message['tool_calls']);
        // A message without content adds nothing.
        if (parts.length > 0) contents.push({ role: 'model', parts });
        break;
      }
      case 'tool':
        if (calls.results.length === 0) contents.push({ role: 'user', parts: calls.results });
        calls.addResult(message, path);
        break;
      default: {
        const parts = contentParts(message['content'], path);
        calls.end();
        if (parts.length > 0) contents.push({ role: 'user', parts });
      }
    }
  }
  if (contents.length === 0 && instructions.length === 0)
    throw refused('messages', 'At least one message must have text or an image.');
  // Gemini requires a content. Instructions alone are the question then.
  if (contents.length === 0) return { contents: [{ role: 'user', parts: instructions }] };
  return { contents, ...(instructions.length === 0 ? {} : { systemInstruction: { parts: instructions } }) };
}

/** "Content", `systemInstruction`: "Currently, text only." */
function instructionParts(content: unknown, path: string): readonly JsonObject[] {
  const parts = contentParts(content, path);
  if (!parts.every(({ text }) => text !== undefined))
    throw refused(
      'messages',
      'This model accepts images and documents only in messages of user, assistant and tool.',
    );
  return parts;
}

/** The functions that were called so far, and the results of the last calls. */
class CalledFunctions {
  /** The parts of the content with the results of the last calls. */
  results: JsonObject[] = [];
  private readonly nameById = new Map<string, string>();
  private lastIds: readonly string[] = [];
  /** The position of the call of each result. */
  private order: number[] = [];

  start(toolCalls: unknown): void {
    this.end();
    const ids: string[] = [];
    for (const value of Array.isArray(toolCalls) ? (toolCalls as unknown[]) : []) {
      const call = asObject(value);
      const name = asObject(call?.['function'])?.['name'];
      if (typeof call?.['id'] !== 'string' || typeof name !== 'string') continue;
      ids.push(call['id']);
      this.nameById.set(call['id'], name);
    }
    this.lastIds = ids;
  }

  end(): void {
    this.results = [];
    this.order = [];
    this.lastIds = [];
  }

  /** Results are in the order of their calls: Gemini matches them by name and order. Images follow them. */
  addResult(message: JsonObject, path: string): void {
    const id = message['tool_call_id'];
    const name = typeof id === 'string' ? this.nameById.get(id) : undefined;
    if (typeof id !== 'string' || name === undefined) {
      throw refusedValue(`${path}.tool_call_id`, 'it is not the id of a tool call in an earlier message.');
    }
    const parts = contentParts(message['content'], path);
    const output = parts.map((part) => part['text'] ?? '').join('');
    const position = this.lastIds.indexOf(id);
    const rank = position === -1 ? this.lastIds.length : position;
    const later = this.order.findIndex((other) => other > rank);
    const at = later === -1 ? this.order.length : later;
    this.order.splice(at, 0, rank);
    const response = message['is_error'] === true ? { error: output } : { output };
    this.results.splice(at, 0, { functionResponse: { name, response } });
    this.results.push(...parts.filter((part) => part['text'] === undefined));
  }
}

function modelParts(message: JsonObject, path: string, isCurrentTurn: boolean): JsonObject[] {
  const content = contentParts(message['content'], path);
  const texts = content.map((part) => part['text']).filter((text) => typeof text === 'string');
  const { thoughts, signatures } = readDetails(message['reasoning_details']);
  const parts = [
    ...thoughts,
    ...signedParts(texts.join(''), signatures),
    ...content.filter((part) => part['text'] === undefined),
  ];
  const { refusal } = message;
  if (typeof refusal === 'string' && refusal !== '') parts.push({ text: refusal });
  const calls = functionCalls(message['tool_calls']);
  const [first, ...others] = calls;
  const isUnsigned = ![...parts, ...calls].some((part) => part['thoughtSignature'] !== undefined);
  if (!first || !isCurrentTurn || !isUnsigned) return [...parts, ...calls];
  return [...parts, { ...first, thoughtSignature: SKIP_VALIDATION }, ...others];
}

/** The signed parts of earlier reasoning. A stream delivers a detail in several parts of the same index. */
function readDetails(value: unknown): { thoughts: JsonObject[]; signatures: TextSignature[] } {
  const thoughts = new Map<unknown, { text: string; signature: string }>();
  const signatures: TextSignature[] = [];
  for (const item of Array.isArray(value) ? (value as unknown[]) : []) {
    const { type, index, text, signature, data } = asObject(item) ?? {};
    if (type === 'reasoning.text') {
      const known = thoughts.get(index) ?? { text: '', signature: '' };
      if (typeof text === 'string') known.text += text;
      if (typeof signature === 'string') known.signature += signature;
      thoughts.set(index, known);
    } else if (type === 'reasoning.encrypted' && typeof data === 'string') {
      const parsed = parseTextSignature(data);
      if (parsed) signatures.push(parsed);
    }
  }
  const signed = [...thoughts.values()].filter(({ signature }) => signature !== '');
  return {
    thoughts: signed.map(({ text, signature }) => ({ text, thought: true, thoughtSignature: signature })),
    signatures,
  };
}

function functionCalls(value: unknown): JsonObject[] {
  if (!Array.isArray(value)) return [];
  return (value as unknown[]).map((item) => {
    const call = asObject(item) ?? {};
    const called = asObject(call['function']) ?? {};
    const signature = asObject(asObject(call['extra_content'])?.['google'])?.['thought_signature'];
    return {
      functionCall: { name: called['name'], args: argumentsObject(called['arguments']) },
      ...(typeof signature === 'string' ? { thoughtSignature: signature } : {}),
    };
  });
}

/** Without empty texts, which Gemini refuses. */
function contentParts(content: unknown, path: string): JsonObject[] {
  if (typeof content === 'string') return textParts(content);
  if (!Array.isArray(content)) return [];
  return (content as unknown[]).flatMap((value, index) => {
    const part = asObject(value) ?? {};
    switch (part['type']) {
      case 'text':
        return textParts(part['text']);
      case 'refusal':
        return textParts(part['refusal']);
      case 'image_url':
        return [imagePart(asObject(part['image_url'])?.['url'])];
      case 'file':
        return [documentPart(part['file'], `${path}.content[${index}].file.file_data`)];
      default:
        throw refusedValue(
          `${path}.content[${index}].type`,
          'the model does not support this kind of content.',
        );
    }
  });
}

function textParts(text: unknown): JsonObject[] {
  return text === '' ? [] : [{ text }];
}

function documentPart(file: unknown, path: string): JsonObject {
  const document = readDocument(file);
  if (!document)
    throw refusedValue(path, 'the document must be a base64 data: URI of the type application/pdf.');
  return { inlineData: { mimeType: PDF_TYPE, data: document.data } };
}

const DATA_URL = /^data:([^;,]+);base64,/;

function imagePart(url: unknown): JsonObject {
  const text = String(url);
  // The pattern matches the short start only: the data may have millions of characters.
  const match = DATA_URL.exec(text.slice(0, 100));
  if (!match) return { fileData: { fileUri: text } };
  return { inlineData: { mimeType: match[1], data: text.slice(match[0].length) } };
}
