import { asObject, textOf, type JsonObject } from '../../completion/json';
import type { CachePlace, CachePoints } from './cache-points';
import { documentBlock } from './documents';
import { refused } from '../failures';

/** Image formats by the media type of a data: URL. */
const formats: Readonly<Record<string, string>> = {
  'image/png': 'png',
  'image/jpeg': 'jpeg',
  'image/jpg': 'jpeg',
  'image/gif': 'gif',
  'image/webp': 'webp',
};

/**
 * The content of a message as Converse blocks, with the cache points that its parts request. Blank texts are dropped,
 * since Bedrock refuses them.
 *
 * @param path of the content in the request, for errors.
 */
export function encodeContent(
  content: unknown,
  points: CachePoints,
  place: CachePlace,
  path: string,
): JsonObject[] {
  if (typeof content === 'string') return isBlank(content) ? [] : [{ text: content }];
  if (!Array.isArray(content)) return [];
  const blocks: JsonObject[] = [];
  for (const [index, value] of (content as unknown[]).entries()) {
    const part = asObject(value) ?? {};
    const block = encodePart(part, `${path}[${index}]`);
    if (block) blocks.push(block);
    points.append(blocks, part, place);
  }
  return blocks;
}

function encodePart(part: JsonObject, path: string): JsonObject | undefined {
  switch (part['type']) {
    case 'text':
      return textBlock(part['text']);
    case 'refusal':
      return textBlock(part['refusal']);
    case 'image_url':
      return encodeImage(asObject(part['image_url'])?.['url'], `${path}.image_url.url`);
    case 'file':
      return documentBlock(part['file'], `${path}.file.file_data`);
    default:
      throw refused(`${path}.type`, `Content parts of the type '${String(part['type'])}' are not supported.`);
  }
}

export function textBlock(text: unknown): JsonObject | undefined {
  return typeof text === 'string' && !isBlank(text) ? { text } : undefined;
}

function encodeImage(url: unknown, path: string): JsonObject {
  const link = textOf(url);
  const comma = link.indexOf(',');
  const [mediaType = '', ...parameters] = link.startsWith('data:') ? link.slice(5, comma).split(';') : [];
  const format = Object.hasOwn(formats, mediaType) ? formats[mediaType] : undefined;
  if (format === undefined || !parameters.includes('base64')) {
    throw refused(path, 'Images must be base64 data: URIs of the type PNG, JPEG, GIF or WebP.');
  }
  return { image: { format, source: { bytes: link.slice(comma + 1) } } };
}

function isBlank(text: string): boolean {
  return text.trim() === '';
}
