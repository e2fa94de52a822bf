import { readImageSource } from '../images/data-uri';
import { readImageHeader, type ImageSize } from '../images/image-size';
import type { ImageUrl } from '../schema/checked-fields';
import type { ImageFormula, TokenCounting } from '../types';

/** Tokens of an image by its size, as providers document them. */
const formulas: Readonly<
  Record<Exclude<ImageFormula, 'constant'>, (size: ImageSize, low: boolean) => number>
> = {
  tiles: tileTokens,
  patches: patchTokens,
  pixels: pixelTokens,
  gemini_tiles: geminiTileTokens,
};

/** Input tokens of an image. Its data is never tokenized. */
export function imageTokens(image: ImageUrl, counting: TokenCounting): number {
  const source = readImageSource(image.url);
  const size = source.kind === 'inline' ? readImageHeader(source.base64)?.size : undefined;
  if (size === undefined || !isFormula(counting.imageFormula)) return counting.imageTokens;
  return formulas[counting.imageFormula](size, image.detail === 'low');
}

function isFormula(name: string): name is keyof typeof formulas {
  return Object.hasOwn(formulas, name);
}

/** 85 plus 170 per tile of 512 pixels, after scaling down to 2,048 pixels and the shorter side to 768. */
function tileTokens(size: ImageSize, low: boolean): number {
  if (low) return 85;
  const fit = Math.min(1, 2_048 / Math.max(size.width, size.height));
  const shorter = Math.min(size.width, size.height) * fit;
  const scale = fit * Math.min(1, 768 / shorter);
  return 85 + 170 * tiles(size.width * scale, 512) * tiles(size.height * scale, 512);
}

/** One per patch of 32 pixels, at most 1,536: larger images are scaled down. */
function patchTokens(size: ImageSize): number {
  return Math.min(1_536, tiles(size.width, 32) * tiles(size.height, 32));
}

/** Pixels divided by 750, after scaling the longer side down to 1,568. */
function pixelTokens(size: ImageSize): number {
  const fit = Math.min(1, 1_568 / Math.max(size.width, size.height));
  return Math.ceil((size.width * fit * size.height * fit) / 750);
}

/** 258 per tile of 768 pixels; an image up to 384 pixels a side is one tile. */
function geminiTileTokens(size: ImageSize): number {
  if (size.width <= 384 && size.height <= 384) return 258;
  return 258 * tiles(size.width, 768) * tiles(size.height, 768);
}

function tiles(pixels: number, side: number): number {
  // A rounding error of a scaled side must not add a tile.
  return Math.max(1, Math.ceil(Number((pixels / side).toFixed(6))));
}
