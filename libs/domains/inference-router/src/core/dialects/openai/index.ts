import type { Dialect } from '../dialect';
import { kindOfError, readError } from './classify-error';
import { createDecoder } from './decode-event';
import { encodeRequest } from './encode-request';
import { readResponse } from './read-response';

/** OpenAI's chat completions, as many servers speak them. */
export const openai: Dialect = {
  path: () => '/chat/completions',
  encodeRequest,
  createDecoder,
  readResponse,
  readError,
  kindOfError,
};
