import { badRequest, ProviderError } from '../../errors';
import { isObject } from '../../json-schema';

/** Services with this protocol that refuse more than other servers with it. The first part of the path names them. */
export type Vendor = 'openai' | 'mistral' | 'groq';

type Fields = { readonly [key: string]: unknown };

/** OpenAI, "Create chat completion", and the texts of its errors. Azure has the same. */
const MAX_CALL_ID_LENGTH = 40;
const MAX_NAME_LENGTH = 64;
const FUNCTION_NAME = /^[a-zA-Z0-9_-]+$/;
const AUTHOR_NAME = /^[^\s<|\\/>]+$/;

/** Mistral, "Function calling". */
const MISTRAL_CALL_ID = /^[a-zA-Z0-9]{9}$/;

/** Throws what the vendor refuses and other servers accept. */
export function checkVendorRules(vendor: Vendor, body: unknown): void {
  if (vendor === 'groq') return checkGroq(isObject(body) ? body : {});
  const listed = isObject(body) ? body['messages'] : undefined;
  const messages = Array.isArray(listed) ? listed.map((each: unknown) => (isObject(each) ? each : {})) : [];
  for (const [index, message] of messages.entries()) {
    if (vendor === 'mistral') checkMistral(message);
    else checkOpenAi(message, `messages[${index}]`);
  }
}

function checkOpenAi(message: Fields, path: string): void {
  const { role, name, content } = message;
  if (typeof name === 'string') checkText(name, `${path}.name`, MAX_NAME_LENGTH, AUTHOR_NAME);
  if (role !== 'user' && Array.isArray(content) && content.some(isImage)) {
    throw badRequest(
      `Invalid '${path}'. Image URLs are only allowed for messages with role 'user', ` +
        `but this message with role '${String(role)}' contains an image URL.`,
      path,
      'invalid_value',
    );
  }
  for (const [position, { id, function: called }] of callsOf(message).entries()) {
    const place = `${path}.tool_calls[${position}]`;
    checkText(String(id), `${place}.id`, MAX_CALL_ID_LENGTH);
    const calledName = isObject(called) ? called['name'] : undefined;
    checkText(String(calledName), `${place}.function.name`, MAX_NAME_LENGTH, FUNCTION_NAME);
  }
}

function checkText(text: string, param: string, maxLength: number, pattern?: RegExp): void {
  if (text.length > maxLength) {
    throw badRequest(
      `Invalid '${param}': string too long. Expected a string with maximum length ${maxLength}, ` +
        `but got a string with length ${text.length} instead.`,
      param,
      'string_above_max_length',
    );
  }
  if (pattern && !pattern.test(text)) {
    throw badRequest(
      `Invalid '${param}': string does not match pattern. Expected a string that matches the pattern '${pattern.source}'.`,
      param,
      'invalid_value',
    );
  }
}

function checkGroq({ stream, response_format: format }: Fields): void {
  if (stream === true && isObject(format) && format['type'] !== 'text')
    throw badRequest('`response_format` does not support streaming', undefined);
}

function checkMistral(message: Fields): void {
  const ids = [...callsOf(message).map(({ id }) => id), message['tool_call_id']];
  for (const id of ids) {
    if (id === undefined || MISTRAL_CALL_ID.test(String(id))) continue;
    throw new MistralError({
      status: 400,
      message: `Tool call id was ${String(id)} but must be a-z, A-Z, 0-9, with a length of 9.`,
      type: 'invalid_function_call',
      code: '3280',
    });
  }
}

/** Mistral's errors are not nested. */
class MistralError extends ProviderError {
  override body(): string {
    const { message, type, param, code } = this;
    return JSON.stringify({ object: 'error', message, type, param, code });
  }
}

function callsOf(message: Fields): readonly Fields[] {
  const calls = message['tool_calls'];
  return Array.isArray(calls) ? calls.filter(isObject) : [];
}

/** Or a document: tools and assistants have neither. */
function isImage(part: unknown): boolean {
  return isObject(part) && (part['type'] === 'image_url' || part['type'] === 'file');
}
