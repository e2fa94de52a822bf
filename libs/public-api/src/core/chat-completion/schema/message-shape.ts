import { checkImageUrl } from '../images/check-image-url';
import { imageMimeTypes } from '../images/image-size';
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
          check: checkImageUrl,
          checkPattern: `^data:(${imageMimeTypes.join('|')});base64,`,
        }),
        'The image as a base64 `data:` URI: PNG, JPEG, WebP or GIF. Links are refused.',
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
  type: required(text({ oneOf: ['function'] }), 'The kind of tool.'),
  function: required(
    record({
      name: required(text({ minLength: 1 }), 'Which function was called.'),
      arguments: required(text(), 'Its arguments, as the JSON text that the model wrote.'),
    }),
    'The function that was called.',
  ),
});

const CONTENT = 'What the message says: a text, or parts of text and images.';
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
        content: optional(textOr(assistantParts), CONTENT, 'nothing was said'),
        name,
        refusal: optional(
          text(),
          'Of `assistant`: what the model said when it refused.',
          'it did not refuse',
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
      content: required(textOr(parts), CONTENT),
      tool_call_id: required(text({ minLength: 1 }), 'Of `tool`: the `id` of the call that this answers.'),
      name,
    }),
  },
  { function: "Use the role 'tool'." },
);
