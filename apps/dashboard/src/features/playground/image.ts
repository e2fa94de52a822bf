/** The longest side that is sent: models do not see more, and the request stays small. */
const MAX_SIDE_PX = 1_024;
const JPEG_QUALITY = 0.85;

export interface Picture {
  /** What is sent: a JPEG as a data: URI. */
  readonly uri: string;
  /**
   * A blank picture of the same size. What a picture costs hangs on its size
   * alone, so the estimate needs not carry the picture itself.
   */
  readonly blankUri: string;
  readonly name: string;
}

/** Reads a picture and makes it as small as models look at it. Rejects what is none. */
export async function readPicture(file: File): Promise<Picture> {
  const bitmap = await createImageBitmap(file);
  const scale = Math.min(1, MAX_SIDE_PX / Math.max(bitmap.width, bitmap.height));
  const canvas = document.createElement('canvas');
  canvas.width = Math.max(1, Math.round(bitmap.width * scale));
  canvas.height = Math.max(1, Math.round(bitmap.height * scale));
  const blankUri = canvas.toDataURL('image/png');
  const context = canvas.getContext('2d');
  if (!context) throw new Error('this browser draws no pictures');
  // JPEG knows no transparency; without this it would be black.
  context.fillStyle = 'white';
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.drawImage(bitmap, 0, 0, canvas.width, canvas.height);
  bitmap.close();
  return { uri: canvas.toDataURL('image/jpeg', JPEG_QUALITY), blankUri, name: file.name };
}
