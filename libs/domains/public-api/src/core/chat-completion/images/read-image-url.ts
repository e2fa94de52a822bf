import type { ReadText } from '../schema/shape';
import { readImageSource, type Base64 } from './data-uri';
import { imageMimeTypes, readImageHeader } from './image-size';

/** Pixels per side that an image may have. */
export const MAX_IMAGE_SIDE_PIXELS = 16_384;

/** What an image may call itself: its types, and the name that many give to JPEG. */
export const imageLabels: readonly string[] = [...imageMimeTypes, 'image/jpg'];

/**
 * An image URL as it is passed on: with the type that its bytes show, and
 * without white space in its data. A remote link is no fault of the value's
 * form: it has an error code and a place in the order of checks of its own.
 */
export function readImageUrl(url: string): ReadText {
  const source = readImageSource(url);
  if (source.kind === 'remote') return { text: url };
  if (source.kind === 'invalid') return { problem: source.problem };
  if (!imageLabels.includes(source.label)) {
    return { problem: `the image must be one of ${imageMimeTypes.join(', ')}.` };
  }
  const base64 = validBase64(source.base64);
  if (!base64) return { problem: 'the data is not valid base64.' };
  const image = readImageHeader(base64);
  if (!image) return { problem: `the data is not an image of the types ${imageMimeTypes.join(', ')}.` };
  const { width, height } = image.size;
  if (width === 0 || height === 0) return { problem: 'the image has no pixels.' };
  if (width > MAX_IMAGE_SIDE_PIXELS || height > MAX_IMAGE_SIDE_PIXELS) {
    return { problem: `the image is more than ${MAX_IMAGE_SIDE_PIXELS} pixels wide or high.` };
  }
  return { text: base64.after(`data:${image.mimeType};base64,`) };
}

/** The data, without white space only if it needs that: almost none has any, and all of it may be thirty megabytes. */
function validBase64(given: Base64): Base64 | undefined {
  if (given.isValid()) return given;
  const tightened = given.withoutSpace();
  return tightened.isValid() ? tightened : undefined;
}
