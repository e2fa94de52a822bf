import { cachePointMembers } from './field-shapes';
import { fileName, pdfData } from '../documents/read-pdf-data';
import { imageLabels, readImageUrl } from '../images/read-image-url';
import type { JsonValue } from '../../json/json-value';
import {
  anyObject,
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

/** Maximum messages of one request. */
export const MAX_MESSAGES = 10_000;

/**
 * Vendors create ids of some dozen characters, but clients also put signatures into them. Longer ids than a provider
 * accepts are mapped. An id counts as input tokens.
 */
export const callId = text({ minLength: 1, maxLength: 65_536 });

/** Vendors accept names of 64 to 128 characters; some models call functions that do not exist. */
export const calledName = text({ minLength: 1, maxLength: 256 });

const PART_TYPE = 'The kind of part.';

const textPart = record({
  type: required(text(), PART_TYPE),
  text: required(text(), 'The text of the part. It may be empty.'),
  ...cachePointMembers,
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
        'The image as a base64 `data:` URI: PNG, JPEG, WebP or GIF. The type is detected from the bytes. Links are refused.',
      ),
      detail: optional(
        text({ oneOf: ['auto', 'low', 'high'] }),
        'The resolution at which the model reads the image, and so its tokens.',
        '`auto`: the model decides',
      ),
    }),
    'The image, for models with the capability `vision`.',
  ),
  ...cachePointMembers,
});

const filePart = record({
  type: required(text(), PART_TYPE),
  file: required(
    record(
      {
        file_data: required(
          pdfData,
          'The document as a base64 `data:` URI of the type `application/pdf`. Links are refused.',
        ),
        filename: fileName,
      },
      undefined,
      { file_id: 'files are not stored. Send the document in file_data.' },
    ),
    'The PDF document, for models with the capability `files`. Each page counts as input tokens.',
  ),
  ...cachePointMembers,
});

const refusalPart = record({
  type: required(text(), PART_TYPE),
  refusal: required(text(), 'The text of the refusal.'),
});

const partHints = {
  input_audio: 'Audio input is not supported.',
  input_file: "Chat completions use 'file' parts.",
  input_text: "Chat completions use 'text' parts.",
  input_image: "Chat completions use 'image_url' parts.",
};

const parts = list(variants('type', { text: textPart, image_url: imagePart, file: filePart }, partHints), {
  minItems: 1,
});

const assistantParts = list(
  variants('type', { text: textPart, image_url: imagePart, file: filePart, refusal: refusalPart }, partHints),
  { minItems: 1 },
);

const toolCall = record({
  id: required(callId, 'The id of the call; the tool message with its result repeats it.'),
  type: optional(text({ oneOf: ['function'] }), 'The kind of tool.', '`function`', { absentIs: 'function' }),
  function: required(
    record({
      name: required(calledName, 'The name of the called function.'),
      arguments: required(text(), 'Its arguments, as the JSON text that the model generated.'),
    }),
    'The function that was called.',
  ),
  extra_content: optional(
    anyObject(),
    'Data that came with the call, such as the thought signature of Gemini. Models that send it need it back unchanged.',
    'none',
  ),
});

const CONTENT = 'The content of the message: a text, or parts of text, images and documents.';
const NULL_CONTENT = 'A null means an empty text.';
const isNothing = (value: JsonValue | undefined): boolean =>
  value === undefined || value === null || (Array.isArray(value) && value.length === 0);
const role = required(text(), 'The role of the author.');
const name = optional(text({ maxLength: 256 }), 'Distinguishes authors of the same role.', 'none');

function messageWith(content: Shape): RecordShape {
  return record({ role, content: required(content, CONTENT), name, ...cachePointMembers });
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
        // With tool calls or a refusal, null means absent. Otherwise it is the empty response of a model.
        content: optional(textOr(assistantParts), `${CONTENT} ${NULL_CONTENT}`, 'no content', {
          nullIs: (message) =>
            isNothing(message['tool_calls']) && isNothing(message['refusal']) ? '' : undefined,
        }),
        name,
        refusal: optional(text(), 'Of `assistant`: the text of the refusal.', 'no refusal'),
        reasoning_content: optional(
          text(),
          'Of `assistant`: the reasoning of the model. Sent only to models that accept it.',
          'none',
        ),
        reasoning: optional(text(), 'Of `assistant`: another name of `reasoning_content`.', 'none'),
        reasoning_details: optional(
          list(anyObject(), { emptyMeansAbsent: true }),
          'Of `assistant`: parts of the reasoning of the model, as in its response. Models that reason between tool calls need the signed ones back unchanged.',
          'none',
        ),
        tool_calls: optional(
          list(toolCall, { emptyMeansAbsent: true }),
          'Of `assistant`: the tool calls that the model requested. Empty means none.',
          'none',
        ),
        ...cachePointMembers,
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
      tool_call_id: required(callId, 'Of `tool`: the `id` of the call whose result this is.'),
      name,
      ...cachePointMembers,
    }),
  },
  { function: "Use the role 'tool'." },
);
