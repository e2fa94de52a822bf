import { refuse, type Refusal } from '@gateway/errors';
import type { JsonObject } from '../../json/json-value';

/** missing_model: absent, null or empty. Other types are `invalid_request`. */
export function checkModelPresent(body: JsonObject): Refusal | undefined {
  const model = ownValue(body, 'model');
  return model === undefined || model === null || model === ''
    ? refuse('missing_model', { message: "Missing required parameter: 'model'.", param: 'model' })
    : undefined;
}

/** missing_messages: anything but an array with at least one message. */
export function checkMessagesPresent(body: JsonObject): Refusal | undefined {
  const messages = ownValue(body, 'messages');
  return Array.isArray(messages) && messages.length > 0
    ? undefined
    : refuse('missing_messages', {
        message: "Missing required parameter: 'messages', an array with at least one message.",
        param: 'messages',
      });
}

function ownValue(body: JsonObject, name: string): JsonObject[string] | undefined {
  return Object.hasOwn(body, name) ? body[name] : undefined;
}
