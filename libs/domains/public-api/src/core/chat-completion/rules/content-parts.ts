import type { ChatMessage, ContentPart } from '../schema/checked-fields';

/** Visits the content parts of all messages, in order, with paths such as "messages[0].content[1]". */
export function eachPart(
  messages: readonly ChatMessage[],
  visit: (part: ContentPart, path: string) => void,
): void {
  for (let message = 0; message < messages.length; message += 1) {
    const content = messages[message]?.content;
    if (content === undefined || typeof content === 'string') continue;
    content.forEach((part, index) => visit(part, `messages[${message}].content[${index}]`));
  }
}
