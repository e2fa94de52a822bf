import type { JobCaller } from '@gateway/base';
import type { Refusal } from '@gateway/errors';
import { invalidValue } from '../rules/field-values';
import type { DocumentSize, ModelView, PageCounter, UncountedChatRequest, UncountedInput } from '../types';

/** The characters per token of English text. */
const CHARACTERS_PER_TOKEN = 4;

/**
 * The request with the pages of its documents counted: each is an image, or more where its text is dense. invalid_request for a document whose
 * pages cannot be counted.
 *
 * @param pageCounter - absent: documents are refused.
 * @returns the request itself where it has no documents.
 */
export function countDocuments(
  request: UncountedChatRequest,
  model: ModelView,
  pageCounter: PageCounter | undefined,
  caller?: JobCaller,
): UncountedChatRequest | Refusal | Promise<UncountedChatRequest | Refusal> {
  const { documents = [], ...input } = request.input;
  const [first] = documents;
  if (first === undefined) return request;
  if (!pageCounter) return invalidValue(first.path, 'documents are not supported here.');
  const files = documents.map(({ pdf }) => pdf);
  return pageCounter.count(files, caller).then((counts) => {
    if (counts.kind === 'counted') return { ...request, input: withPages(input, counts.documents, model) };
    return invalidValue(documents[counts.document]?.path ?? first.path, counts.problem);
  });
}

function withPages(
  { parts, ...input }: UncountedInput,
  documents: readonly DocumentSize[],
  { tokenCounting }: ModelView,
): UncountedInput {
  const pages = documents.reduce((sum, each) => sum + each.pages, 0);
  // Dense pages need more tokens than the model's usual page.
  const tokens = documents.reduce(
    (sum, each) =>
      sum +
      Math.max(each.pages * tokenCounting.pageTokens, Math.ceil(each.characters / CHARACTERS_PER_TOKEN)),
    0,
  );
  return {
    ...input,
    parts: {
      ...parts,
      images: parts.images + pages,
      imageTokens: parts.imageTokens + tokens,
    },
  };
}
