import { imageLabels, readImageUrl } from '../images/read-image-url';
import type { JsonValue } from '../../json/json-value';
import {
  list,
  optional,
  record,
  required,
  text,
  textOr,
  variants,
  type RecordShape,
  type Shape,
} from './shape';

/** Messages that one request may have. */
export const MAX_MESSAGES = 10_000;

const PART_TYPE = 'Which kind of part this is.';

const textPart = record({
  type: required(text(), PART_TYPE),
  text: required(text(), 'The text of the part. It may be empty.'),
});

const imagePart = record({
  type: required(text(), PART_TYPE),
  image_url: required(
    record({
      url: required(
        text({
          read: readImageUrl,
          checkPattern: `^data:(${imageLabels.join('|')});base64,`,
        }),
        'The image as a base64 `data:` URI: PNG, JPEG, WebP or GIF. Its bytes decide which of them it is. Links are refused.',
      ),
      detail: optional(
        text({ oneOf: ['auto', 'low', 'high'] }),
        'How closely the model looks, and so how many tokens the image costs.',
        '`auto`: the model decides',
      ),
    }),
    'The image of the part, for models with the capability `vision`.',
  ),
});

const refusalPart = record({
  type: required(text(), PART_TYPE),
  refusal: required(text(), 'What the model said when it refused.'),
});

const partHints = {
  input_audio: 'Audio input is not supported.',
  file: 'File input is not supported.',
  input_text: "Chat completions take 'text' parts.",
  input_image: "Chat completions take 'image_url' parts.",
};

const parts = list(variants('type', { text: textPart, image_url: imagePart }, partHints), { minItems: 1 });

const assistantParts = list(
  variants('type', { text: textPart, image_url: imagePart, refusal: refusalPart }, partHints),
  { minItems: 1 },
);

const toolCall = record({
  id: required(text({ minLength: 1 }), 'The id that the model gave the call; its answer repeats it.'),
  type: optional(text({ oneOf: ['function'] }), 'The kind of tool.', '`function`', { absentIs: 'function' }),
  function: required(
    record({
      name: required(text({ minLength: 1 }), 'Which function was called.'),
      arguments: required(text(), 'Its arguments, as the JSON text that the model wrote.'),
    }),
    'The function that was called.',
  ),
});

const CONTENT = 'What the message says: a text, or parts of text and images.';
const NULL_CONTENT = 'A null is an empty text.';
const isNothing = (value: JsonValue | undefined): boolean =>
  value === undefined || value === null || (Array.isArray(value) && value.length === 0);
const role = required(text(), 'Who speaks.');
const name = optional(text({ maxLength: 256 }), 'Tells apart speakers of the same role.', 'none');

function messageWith(content: Shape): RecordShape {
  return record({ role, content: required(content, CONTENT), name });
}

/** One message, by its role. */
export const messageShape = variants(
  'role',
  {
    system: messageWith(textOr(parts)),
    developer: messageWith(textOr(parts)),
    user: messageWith(textOr(parts)),
    assistant: record(
      {
        role,
        // Beside calls or a refusal a null says that there is no content; alone it is what a model that said nothing left.
        content: optional(textOr(assistantParts), `${CONTENT} ${NULL_CONTENT}`, 'nothing was said', {
          nullIs: (message) =>
            isNothing(message['tool_calls']) && isNothing(message['refusal']) ? '' : undefined,
        }),
        name,
        refusal: optional(
          text(),
          'Of `assistant`: what the model said when it refused.',
          'it did not refuse',
        ),
        reasoning_content: optional(
          text(),
          'Of `assistant`: what the model thought before it answered. Passed back to models that want it, else left out.',
          'none',
        ),
        tool_calls: optional(
          list(toolCall, { emptyMeansAbsent: true }),
          'Of `assistant`: the calls of tools that the model asked for. Empty means none.',
          'none',
        ),
      },
      (message) =>
        message['content'] === undefined &&
        message['refusal'] === undefined &&
        message['tool_calls'] === undefined
          ? { param: 'content', message: "it is required, unless 'tool_calls' is given." }
          : undefined,
    ),
    tool: record({
      role,
      content: required(textOr(parts), `${CONTENT} ${NULL_CONTENT}`, { nullIs: () => '' }),
      tool_call_id: required(text({ minLength: 1 }), 'Of `tool`: the `id` of the call that this answers.'),
      name,
    }),
  },
  { function: "Use the role 'tool'." },
);
