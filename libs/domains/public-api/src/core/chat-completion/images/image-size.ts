import type { Base64 } from './data-uri';

export interface ImageSize {
  readonly width: number;
  readonly height: number;
}

type SizeReader = (data: Base64) => ImageSize | undefined;

/** Readers of the width and height in a file's header, by accepted MIME type. */
const readers: ReadonlyMap<string, SizeReader> = new Map([
  ['image/png', pngSize],
  ['image/jpeg', jpegSize],
  ['image/webp', webpSize],
  ['image/gif', gifSize],
]);

export const imageMimeTypes: readonly string[] = [...readers.keys()];

export interface ImageHeader {
  readonly mimeType: string;
  readonly size: ImageSize;
}

/**
 * The type and size in the image's header. Clients derive the type from the file
 * name, which is often wrong.
 *
 * @returns undefined when the data is no image of an accepted type.
 */
export function readImageHeader(data: Base64): ImageHeader | undefined {
  for (const [mimeType, readSize] of readers) {
    const size = readSize(data);
    if (size) return { mimeType, size };
  }
  return undefined;
}

const PNG_SIGNATURE = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a];

function pngSize(data: Base64): ImageSize | undefined {
  const head = data.read(0, 24);
  if (head.length < 24 || PNG_SIGNATURE.some((byte, index) => head[index] !== byte)) return undefined;
  if (latin1(head, 12, 16) !== 'IHDR') return undefined;
  const view = viewOf(head);
  return { width: view.getUint32(16), height: view.getUint32(20) };
}

function gifSize(data: Base64): ImageSize | undefined {
  const head = data.read(0, 10);
  if (head.length < 10 || !['GIF87a', 'GIF89a'].includes(latin1(head, 0, 6))) return undefined;
  const view = viewOf(head);
  return { width: view.getUint16(6, true), height: view.getUint16(8, true) };
}

function webpSize(data: Base64): ImageSize | undefined {
  const head = data.read(0, 30);
  if (head.length < 30 || latin1(head, 0, 4) !== 'RIFF' || latin1(head, 8, 12) !== 'WEBP') return undefined;
  const view = viewOf(head);
  switch (latin1(head, 12, 16)) {
    case 'VP8 ': {
      const isKeyFrame = head[23] === 0x9d && head[24] === 0x01 && head[25] === 0x2a;
      if (!isKeyFrame) return undefined;
      return { width: view.getUint16(26, true) & 0x3fff, height: view.getUint16(28, true) & 0x3fff };
    }
    case 'VP8L': {
      if (head[20] !== 0x2f) return undefined;
      const bits = view.getUint32(21, true);
      return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 };
    }
    case 'VP8X':
      return {
        width: (view.getUint32(24, true) & 0xffffff) + 1,
        height: (view.getUint16(27, true) | ((head[29] ?? 0) << 16)) + 1,
      };
    default:
      return undefined;
  }
}

/** Segments read in search of a JPEG's frame header. Cameras write about twenty. */
const MAX_JPEG_SEGMENTS = 512;

function jpegSize(data: Base64): ImageSize | undefined {
  const start = data.read(0, 2);
  if (start[0] !== 0xff || start[1] !== 0xd8) return undefined;
  let offset = 2;
  for (let segment = 0; segment < MAX_JPEG_SEGMENTS; segment += 1) {
    const head = data.read(offset, 9);
    const marker = head[1];
    if (head.length < 4 || head[0] !== 0xff || marker === undefined) return undefined;
    if (marker === 0xff) {
      offset += 1; // A fill byte before the marker.
      continue;
    }
    const view = viewOf(head);
    if (isFrameHeader(marker)) {
      return head.length < 9 ? undefined : { height: view.getUint16(5), width: view.getUint16(7) };
    }
    offset += 2 + view.getUint16(2);
  }
  return undefined;
}

/** SOF0 to SOF15 without DHT, JPG and DAC, which share their range. */
function isFrameHeader(marker: number): boolean {
  return marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc;
}

function latin1(bytes: Uint8Array, from: number, to: number): string {
  return String.fromCharCode(...bytes.subarray(from, to));
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
