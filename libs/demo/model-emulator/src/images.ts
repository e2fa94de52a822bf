import { badRequest } from './errors';

export interface ImageSize {
  readonly width: number;
  readonly height: number;
}

const DATA_URI = /^data:image\/(png|jpeg|jpg|webp|gif);base64,([A-Za-z0-9+/=\s]*)$/;

/** Reads an image's size from a base64 `data:` URI. Throws a 400 that names `param` otherwise. */
export function readImageSize(url: string, param: string): ImageSize {
  const match = DATA_URI.exec(url);
  if (match === null) {
    throw badRequest(
      'Images must be base64 data: URIs of type png, jpeg, webp or gif.',
      param,
      'invalid_image',
    );
  }
  const bytes = Buffer.from(match[2] ?? '', 'base64');
  const size = pngSize(bytes) ?? gifSize(bytes) ?? jpegSize(bytes) ?? webpSize(bytes);
  if (size === undefined || size.width === 0 || size.height === 0) {
    throw badRequest(
      'You uploaded an unsupported image. Please make sure it is valid.',
      param,
      'invalid_image',
    );
  }
  return size;
}

function pngSize(bytes: Buffer): ImageSize | undefined {
  if (bytes.length < 24 || bytes.readUInt32BE(0) !== 0x89504e47) return undefined;
  return { width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) };
}

function gifSize(bytes: Buffer): ImageSize | undefined {
  if (bytes.length < 10 || bytes.toString('latin1', 0, 4) !== 'GIF8') return undefined;
  return { width: bytes.readUInt16LE(6), height: bytes.readUInt16LE(8) };
}

function jpegSize(bytes: Buffer): ImageSize | undefined {
  if (bytes.length < 4 || bytes.readUInt16BE(0) !== 0xffd8) return undefined;
  let offset = 2;
  while (offset + 9 < bytes.length && bytes[offset] === 0xff) {
    const marker = bytes.readUInt8(offset + 1);
    const isFrame = marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc;
    if (isFrame) return { height: bytes.readUInt16BE(offset + 5), width: bytes.readUInt16BE(offset + 7) };
    offset += 2 + bytes.readUInt16BE(offset + 2);
  }
  return undefined;
}

function webpSize(bytes: Buffer): ImageSize | undefined {
  if (bytes.length < 30 || bytes.toString('latin1', 8, 12) !== 'WEBP') return undefined;
  const format = bytes.toString('latin1', 12, 16);
  if (format === 'VP8 ') {
    return { width: bytes.readUInt16LE(26) & 0x3fff, height: bytes.readUInt16LE(28) & 0x3fff };
  }
  if (format === 'VP8L') {
    const bits = bytes.readUInt32LE(21);
    return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 };
  }
  return { width: bytes.readUIntLE(24, 3) + 1, height: bytes.readUIntLE(27, 3) + 1 };
}

const BASE_TOKENS = 85;
const TILE_TOKENS = 170;
const TILE_PIXELS = 512;

/** Tokens of one image by OpenAI's tile rule: fit in 2048, short side to 768, then 512-pixel tiles. */
export function imageTokens(size: ImageSize, lowDetail: boolean): number {
  if (lowDetail) return BASE_TOKENS;
  const fit = Math.min(1, 2048 / Math.max(size.width, size.height));
  const shrink = Math.min(1, 768 / (Math.min(size.width, size.height) * fit));
  const columns = Math.ceil((size.width * fit * shrink) / TILE_PIXELS);
  const rows = Math.ceil((size.height * fit * shrink) / TILE_PIXELS);
  return BASE_TOKENS + TILE_TOKENS * columns * rows;
}
