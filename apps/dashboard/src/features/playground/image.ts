/** Larger images are scaled down, which models do anyway. */
const MAX_SIDE_PX = 1_024;
const JPEG_QUALITY = 0.85;

export interface ImageAttachment {
  /** A JPEG as a data: URI. */
  readonly uri: string;
  /** A blank image of the same size for estimates, since the cost depends only on the size. */
  readonly blankUri: string;
  readonly name: string;
}

/** Reads and scales down an image. Rejects for other files. */
export async function readImage(file: File): Promise<ImageAttachment> {
  const bitmap = await createImageBitmap(file);
  const scale = Math.min(1, MAX_SIDE_PX / Math.max(bitmap.width, bitmap.height));
  const canvas = document.createElement('canvas');
  canvas.width = Math.max(1, Math.round(bitmap.width * scale));
  canvas.height = Math.max(1, Math.round(bitmap.height * scale));
  const blankUri = canvas.toDataURL('image/png');
  const context = canvas.getContext('2d');
  if (!context) throw new Error('the browser does not support canvas');
  // JPEG has no transparency: fill the background.
  context.fillStyle = 'white';
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.drawImage(bitmap, 0, 0, canvas.width, canvas.height);
  bitmap.close();
  return { uri: canvas.toDataURL('image/jpeg', JPEG_QUALITY), blankUri, name: file.name };
}
