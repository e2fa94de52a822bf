import { readImageSource } from './data-uri';
import { imageMimeTypes, readImageSize } from './image-size';

/** Pixels per side that an image may have. */
export const MAX_IMAGE_SIDE_PIXELS = 16_384;

/**
 * What is wrong with an image URL; undefined when nothing is. A remote link is
 * no fault of the value's form: it has an error code and a place in the order
 * of checks of its own.
 */
export function checkImageUrl(url: string): string | undefined {
  const source = readImageSource(url);
  if (source.kind === 'remote') return undefined;
  if (source.kind === 'invalid') return source.problem;
  const { mimeType, base64 } = source;
  if (!imageMimeTypes.includes(mimeType)) {
    return `the image must be one of ${imageMimeTypes.join(', ')}.`;
  }
  if (!base64.isValid()) return 'the data is not valid base64.';
  const size = readImageSize(mimeType, base64);
  if (!size) return `the data is not an image of the type ${mimeType}.`;
  if (size.width === 0 || size.height === 0) return 'the image has no pixels.';
  if (size.width > MAX_IMAGE_SIDE_PIXELS || size.height > MAX_IMAGE_SIDE_PIXELS) {
    return `the image is more than ${MAX_IMAGE_SIDE_PIXELS} pixels wide or high.`;
  }
  return undefined;
}
