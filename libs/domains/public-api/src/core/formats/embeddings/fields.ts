import { accept, honour, reject, required, type Field } from '../../chat-completion/schema/field';
import { externalUser } from '../../chat-completion/schema/field-shapes';
import { either, list, number, text } from '../../chat-completion/schema/shape';

/** The most inputs of one request. */
const MAX_INPUTS = 2_048;

const inputText = text({ minLength: 1 });
const tokens = list(number({ integer: true, min: 0, max: 0x7fff_ffff }), { minItems: 1 });

/** Every top-level field of POST /v1/embeddings, in the order of validation. */
export const embeddingsFields: readonly Field[] = [
  required('model', text({ minLength: 1 }), 'The id of an embedding model, as in the model list.'),
  required(
    'input',
    either(
      'a string or an array',
      inputText,
      tokens,
      list(inputText, { maxItems: MAX_INPUTS }),
      list(tokens, { maxItems: MAX_INPUTS }),
    ),
    'A text or its tokens, or a list of either. None may be empty, or longer than the context length of the model. Only providers with the API of OpenAI accept tokens.',
  ),
  honour(
    'dimensions',
    number({ integer: true, min: 1, max: 65_536 }),
    'The length of each embedding: one of the `dimensions` of the model in the model list.',
    'the first of them',
  ),
  honour(
    'encoding_format',
    text({ oneOf: ['float', 'base64'] }),
    'The format of each embedding: a list of numbers, or base64 of little-endian 32-bit floats.',
    '`float`',
  ),
  accept(
    'user',
    externalUser,
    "Your identifier of the end user. Shown with the generation; not sent to the model's provider.",
    'none',
  ),
  reject('messages', "Use 'input'."),
  reject('stream', 'Embeddings are not streamed.'),
];
