import { badRequest } from '../../errors';
import { isObject } from '../../json-schema';
import { isSignatureOf, signedCallText } from './signature';

type Fields = { [key: string]: unknown };

/** A chat message with the fields of OpenAI. */
export type Message = Fields;

/**
 * Reads `contents` as chat messages. Throws the 400s of Gemini: results have to match the calls of the preceding content
 * in number, order and name, and a model that thinks requires its signatures in the current turn.
 */
export function readContents(value: unknown, thinks: boolean): Message[] {
  if (!Array.isArray(value) || value.length === 0) throw badRequest('contents is not specified', 'contents');
  const contents = value.map((content: unknown) => readContent(content));
  const turnStart = contents.findLastIndex(({ role, parts }) => role === 'user' && !parts.some(isResult));
  const messages: Message[] = [];
  if (contents[0]?.role !== 'user') {
    throw badRequest(
      'Please ensure that function call turn comes immediately after a user turn or after a function response turn.',
    );
  }
  let open: { readonly id: string; readonly name: unknown }[] = [];
  for (const [index, { role, parts }] of contents.entries()) {
    const results = parts.filter(isResult).map((part) => part['functionResponse'] as Fields);
    if (role === 'model') {
      checkSignatures(parts, index, thinks && index > turnStart);
      open = parts.filter(isCall).map((part, position) => ({
        id: `call_${index}_${position}`,
        name: functionName((part['functionCall'] as Fields)['name']),
      }));
      messages.push(modelMessage(parts, open));
      continue;
    }
    if (results.length !== open.length) {
      throw badRequest(
        'Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.',
      );
    }
    for (const [position, result] of results.entries()) {
      const call = open[position];
      if (call === undefined || call.name !== result['name']) {
        throw badRequest(
          `The function response ${String(result['name'])} matches no function call of the turn.`,
        );
      }
      const content = JSON.stringify(result['response'] ?? {});
      messages.push({ role: 'tool', tool_call_id: call.id, content });
    }
    open = [];
    const others = parts.filter((part) => !isResult(part));
    if (others.length > 0) messages.push({ role: 'user', content: others.map(userPart) });
  }
  if (open.length > 0)
    throw badRequest('Please ensure that function call turns are followed by their responses.');
  return messages;
}

function readContent(content: unknown): { readonly role: string; readonly parts: readonly Fields[] } {
  const parts = isObject(content) ? content['parts'] : undefined;
  const role = isObject(content) ? (content['role'] ?? 'user') : undefined;
  if (role !== 'user' && role !== 'model')
    throw badRequest('Please use a valid role: user, model.', 'contents');
  if (!Array.isArray(parts) || parts.length === 0 || !parts.every(isObject)) {
    throw badRequest(
      'Unable to submit request because it must include at least one parts field.',
      'contents',
    );
  }
  return { role, parts };
}

/** Google, "Function calling", `FunctionDeclaration.name`. */
export const FUNCTION_NAME = /^[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}$/;

export function functionName(name: unknown): string {
  if (typeof name === 'string' && FUNCTION_NAME.test(name)) return name;
  throw badRequest('Invalid function name. Must start with a letter or an underscore.', 'function_name');
}

function isCall(part: Fields): boolean {
  return isObject(part['functionCall']);
}

function isResult(part: Fields): boolean {
  return isObject(part['functionResponse']);
}

function userPart(part: Fields): object {
  const { text, inlineData } = part;
  if (typeof text === 'string') return { type: 'text', text };
  if (isObject(inlineData)) {
    const { mimeType, data } = inlineData;
    if (mimeType === 'application/pdf')
      return {
        type: 'file',
        file: { filename: 'document.pdf', file_data: `data:${mimeType};base64,${String(data)}` },
      };
    const url = `data:${String(inlineData['mimeType'])};base64,${String(inlineData['data'])}`;
    return { type: 'image_url', image_url: { url } };
  }
  throw badRequest(`The emulator does not read parts with ${Object.keys(part).join(', ')}.`, 'contents');
}

function modelMessage(parts: readonly Fields[], calls: readonly { readonly id: string }[]): Message {
  const text = textOf(parts);
  if (calls.length === 0) return { role: 'assistant', content: text };
  const toolCalls = parts.filter(isCall).map((part, position) => {
    const { name, args } = part['functionCall'] as Fields;
    return {
      id: calls[position]?.id,
      type: 'function',
      function: { name, arguments: JSON.stringify(args ?? {}) },
    };
  });
  return { role: 'assistant', content: text === '' ? null : text, tool_calls: toolCalls };
}

/** The text without thoughts. */
function textOf(parts: readonly Fields[]): string {
  return parts.map((part) => (part['thought'] === true ? '' : String(part['text'] ?? ''))).join('');
}

function checkSignatures(parts: readonly Fields[], index: number, isRequired: boolean): void {
  const firstCall = parts.findIndex(isCall);
  for (const [position, part] of parts.entries()) {
    const signature = part['thoughtSignature'];
    const { name, args } = isCall(part) ? (part['functionCall'] as Fields) : {};
    if (signature === undefined) {
      if (!isRequired || position !== firstCall) continue;
      throw badRequest(
        'Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly. ' +
          `Additional data, function call \`default_api:${String(name)}\`, position ${index + 1}.`,
      );
    }
    const text = isCall(part)
      ? signedCallText(String(name), JSON.stringify(args ?? {}))
      : textOf(parts.slice(0, position + 1));
    if (!isSignatureOf(signature, text)) throw badRequest('Thought signature is not valid.');
  }
}
