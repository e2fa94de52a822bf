import type { ReadText } from '../schema/shape';
import { readImageSource, validBase64 } from './data-uri';
import { imageMimeTypes, readImageHeader } from './image-size';

/** Maximum pixels per side of an image. */
export const MAX_IMAGE_SIDE_PIXELS = 16_384;

/** Accepted MIME types in a `data:` URI, with the common misspelling of JPEG. */
export const imageLabels: readonly string[] = [...imageMimeTypes, 'image/jpg'];

/**
 * The image URL to forward: with the type that its bytes have, and without white
 * space in its data. A remote link is accepted here: it has its own error code
 * and its own place in the order of checks.
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
  if (!image) return { problem: `the data is not a supported image (${imageMimeTypes.join(', ')}).` };
  const { width, height } = image.size;
  if (width === 0 || height === 0) return { problem: 'the image has no pixels.' };
  if (width > MAX_IMAGE_SIDE_PIXELS || height > MAX_IMAGE_SIDE_PIXELS) {
    return { problem: `the image is more than ${MAX_IMAGE_SIDE_PIXELS} pixels wide or high.` };
  }
  return { text: base64.after(`data:${image.mimeType};base64,`) };
}
