import { asObject, type JsonObject } from '../completion/json';

const FOLLOWS: Readonly<Record<string, string>> = {
  image_url: 'The result is an image, which follows.',
  file: 'The result is a document, which follows.',
};

/**
 * Moves images and documents of tool results to a user's message after the results of the turn, for vendors that refuse
 * them there.
 */
export function withImagesAfterResults(messages: readonly JsonObject[]): readonly JsonObject[] {
  if (!messages.some(hasImage)) return messages;
  const moved: JsonObject[] = [];
  let images: unknown[] = [];
  const flush = () => {
    if (images.length > 0) moved.push({ role: 'user', content: images });
    images = [];
  };
  for (const message of messages) {
    if (message['role'] !== 'tool') flush();
    if (!hasImage(message)) {
      moved.push(message);
      continue;
    }
    const parts = message['content'] as readonly unknown[];
    const own = parts.filter(isImage);
    images.push(...own);
    const texts = parts.filter((part) => !isImage(part));
    moved.push({ ...message, content: texts.length > 0 ? texts : FOLLOWS[typeOf(own[0])] });
  }
  flush();
  return moved;
}

function hasImage({ role, content }: JsonObject): boolean {
  return role === 'tool' && Array.isArray(content) && content.some(isImage);
}

function isImage(part: unknown): boolean {
  return Object.hasOwn(FOLLOWS, typeOf(part));
}

function typeOf(part: unknown): string {
  return String(asObject(part)?.['type']);
}
