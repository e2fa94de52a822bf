import { refuse, type Refusal } from '@gateway/errors';
import type { ChatMessage, InlineFile } from '../schema/checked-fields';
import type { ModelView } from '../types';
import { eachPart } from './content-parts';
import { hasCapability } from './model-support';

export interface FoundDocument {
  readonly file: InlineFile;
  /** Path of its part, such as "messages[0].content[1]". */
  readonly path: string;
}

/**
 * The documents of all messages, in order.
 *
 * @param paths in another format, by file.
 */
export function findDocuments(
  messages: readonly ChatMessage[],
  paths?: ReadonlyMap<unknown, string>,
): readonly FoundDocument[] {
  const found: FoundDocument[] = [];
  eachPart(messages, (part, path) => {
    if (part.type === 'file') found.push({ file: part.file, path: paths?.get(part.file) ?? path });
  });
  return found;
}

/** invalid_request: a document for a model that cannot read any. */
export function checkDocuments(documents: readonly FoundDocument[], model: ModelView): Refusal | undefined {
  const [first] = documents;
  return first === undefined || hasCapability(model, 'files')
    ? undefined
    : refuse('invalid_request', {
        message: `The model '${model.id}' cannot read documents.`,
        param: first.path,
      });
}
