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

const textPart = record({ type: required(text()), text: required(text()) });

const imagePart = record({
  type: required(text()),
  image_url: required(
    record({
      url: required(
        text({
          doc: 'The image as a base64 data: URI.',
          check: checkImageUrl,
          checkPattern: `^data:(${imageMimeTypes.join('|')});base64,`,
        }),
      ),
      detail: optional(text({ oneOf: ['auto', 'low', 'high'] })),
    }),
  ),
});

const refusalPart = record({ type: required(text()), refusal: required(text()) });

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
  id: required(text({ minLength: 1 })),
  type: required(text({ oneOf: ['function'] })),
  function: required(record({ name: required(text({ minLength: 1 })), arguments: required(text()) })),
});

const role = required(text());
const name = optional(text({ maxLength: 256 }));

function messageWith(content: Shape): RecordShape {
  return record({ role, content: required(content), name });
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
        content: optional(textOr(assistantParts)),
        name,
        refusal: optional(text()),
        tool_calls: optional(list(toolCall, { emptyMeansAbsent: true })),
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
      content: required(textOr(parts)),
      tool_call_id: required(text({ minLength: 1 })),
      name,
    }),
  },
  { function: "Use the role 'tool'." },
);
