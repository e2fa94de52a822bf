import { refuse, type Refusal } from '@gateway/errors';
import type { RequestFormat } from '../../formats/request-format';
import type { JsonObject } from '../../json/json-value';

/** missing_model: absent, null or empty. Other types are `invalid_request`. */
export function checkModelPresent(body: JsonObject): Refusal | undefined {
  const model = ownValue(body, 'model');
  return model === undefined || model === null || model === ''
    ? refuse('missing_model', { message: "Missing required parameter: 'model'.", param: 'model' })
    : undefined;
}

/** missing_messages: anything but a conversation. */
export function checkMessagesPresent(
  body: JsonObject,
  { conversation, hasConversation }: Pick<RequestFormat, 'conversation' | 'hasConversation'>,
): Refusal | undefined {
  return hasConversation(body)
    ? undefined
    : refuse('missing_messages', { message: MISSING[conversation], param: conversation });
}

const MISSING: Readonly<Record<RequestFormat['conversation'], string>> = {
  messages: "Missing required parameter: 'messages', an array with at least one message.",
  input: "Missing required parameter: 'input', a text or an array with at least one item.",
};

function ownValue(body: JsonObject, name: string): JsonObject[string] | undefined {
  return Object.hasOwn(body, name) ? body[name] : undefined;
}
