/** Image files with a valid header of the given size and little else. */

export function png(width: number, height: number): Buffer {
  const bytes = Buffer.alloc(33);
  Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex').copy(bytes);
  bytes.writeUInt32BE(width, 16);
  bytes.writeUInt32BE(height, 20);
  return bytes;
}

export function gif(width: number, height: number): Buffer {
  const bytes = Buffer.alloc(13);
  bytes.write('GIF89a', 'latin1');
  bytes.writeUInt16LE(width, 6);
  bytes.writeUInt16LE(height, 8);
  return bytes;
}

/** With an EXIF segment of `metadataLength` bytes before the frame header. */
export function jpeg(width: number, height: number, metadataLength = 20): Buffer {
  const exif = Buffer.alloc(2 + metadataLength);
  exif.writeUInt16BE(0xffe1, 0);
  exif.writeUInt16BE(metadataLength, 2);
  const huffman = Buffer.from('ffc40004abcd', 'hex');
  const frame = Buffer.from('ffc2001108000000000301220002110103110100', 'hex');
  frame.writeUInt16BE(height, 5);
  frame.writeUInt16BE(width, 7);
  return Buffer.concat([Buffer.from('ffd8', 'hex'), exif, Buffer.from('ff', 'hex'), huffman, frame]);
}

function webp(chunk: string, size: (bytes: Buffer) => void): Buffer {
  const bytes = Buffer.alloc(32);
  bytes.write('RIFF', 0, 'latin1');
  bytes.write('WEBP', 8, 'latin1');
  bytes.write(chunk, 12, 'latin1');
  size(bytes);
  return bytes;
}

export function webpLossy(width: number, height: number): Buffer {
  return webp('VP8 ', (bytes) => {
    Buffer.from('9d012a', 'hex').copy(bytes, 23);
    bytes.writeUInt16LE(width, 26);
    bytes.writeUInt16LE(height, 28);
  });
}

export function webpLossless(width: number, height: number): Buffer {
  return webp('VP8L', (bytes) => {
    bytes[20] = 0x2f;
    bytes.writeUInt32LE((width - 1) | ((height - 1) << 14), 21);
  });
}

export function webpExtended(width: number, height: number): Buffer {
  return webp('VP8X', (bytes) => {
    bytes.writeUIntLE(width - 1, 24, 3);
    bytes.writeUIntLE(height - 1, 27, 3);
  });
}

export function dataUri(mimeType: string, bytes: Buffer): string {
  return `data:${mimeType};base64,${bytes.toString('base64')}`;
}
