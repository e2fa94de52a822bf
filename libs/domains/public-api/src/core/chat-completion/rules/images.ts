import { refuse, type Refusal } from '@gateway/errors';
import type { ChatRequestFormat } from '../../formats/request-format';
import { readImageSource } from '../images/data-uri';
import type { ChatMessage, ImageUrl } from '../schema/checked-fields';
import type { ModelView } from '../types';
import { eachPart } from './content-parts';
import { hasCapability } from './model-support';

export interface FoundImage {
  readonly image: ImageUrl;
  /** Path of the image part, such as "messages[0].content[1]". */
  readonly path: string;
}

/**
 * The images of all messages, in order.
 *
 * @param paths in another format, by image.
 */
export function findImages(
  messages: readonly ChatMessage[],
  paths?: ReadonlyMap<unknown, string>,
): readonly FoundImage[] {
  const found: FoundImage[] = [];
  eachPart(messages, (part, path) => {
    if (part.type === 'image_url')
      found.push({ image: part.image_url, path: paths?.get(part.image_url) ?? path });
  });
  return found;
}

/** image_url_not_supported: the first image that is a link instead of data. */
export function checkImagesInline(
  images: readonly FoundImage[],
  { imageUrl }: Pick<ChatRequestFormat, 'imageUrl'>,
): Refusal | undefined {
  const remote = images.find(({ image }) => readImageSource(image.url).kind === 'remote');
  return remote && refuse('image_url_not_supported', { param: remote.path + imageUrl });
}

/** vision_not_available: an image for a model that cannot read any. */
export function checkVision(images: readonly FoundImage[], model: ModelView): Refusal | undefined {
  const [first] = images;
  return first === undefined || hasCapability(model, 'vision')
    ? undefined
    : refuse('vision_not_available', {
        message: `The model '${model.id}' cannot read images.`,
        param: first.path,
      });
}
