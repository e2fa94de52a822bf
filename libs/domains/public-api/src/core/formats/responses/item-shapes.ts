import { fileName, pdfData } from '../../chat-completion/documents/read-pdf-data';
import { imageLabels, readImageUrl } from '../../chat-completion/images/read-image-url';
import { cachePointMembers } from '../../chat-completion/schema/field-shapes';
import { callId, calledName } from '../../chat-completion/schema/message-shape';
import { list, optional, record, required, text, textOr, variants } from '../../chat-completion/schema/shape';

/** The shapes of the items of a conversation. */

const type = required(text(), 'The kind of item or part.');
const itemType = optional(text(), 'The kind of item.', '`message`');
const { prompt_cache_breakpoint } = cachePointMembers;

const inputText = record({
  type,
  text: required(text(), 'The text of the part. It may be empty.'),
  prompt_cache_breakpoint,
});

const inputImage = record(
  {
    type,
    image_url: required(
      text({ read: readImageUrl, checkPattern: `^data:(${imageLabels.join('|')});base64,` }),
      'The image as a base64 `data:` URI: PNG, JPEG, WebP or GIF. Links are refused.',
    ),
    detail: optional(
      text({ oneOf: ['auto', 'low', 'high', 'original'] }),
      'The resolution at which the model reads the image. `original` is `high`.',
      '`auto`',
    ),
    prompt_cache_breakpoint,
  },
  undefined,
  { file_id: 'files are not supported. Send the image in image_url.' },
);

const inputFile = record(
  {
    type,
    file_data: required(
      pdfData,
      'The PDF document as a base64 `data:` URI of the type `application/pdf`, for models with the capability `files`. Each page counts as input tokens.',
    ),
    filename: fileName,
    prompt_cache_breakpoint,
  },
  undefined,
  {
    file_id: 'files are not stored. Send the document in file_data.',
    file_url: 'links are not supported. Send the document in file_data.',
  },
);

const outputText = record({ type, text: required(text(), 'The text of an earlier response.') });
const refusal = record({ type, refusal: required(text(), 'The refusal of an earlier response.') });

const partHints = {
  input_audio: 'Audio is not supported.',
  text: "Responses use 'input_text' parts.",
  image_url: "Responses use 'input_image' parts.",
};

const parts = variants(
  'type',
  {
    input_text: inputText,
    input_image: inputImage,
    input_file: inputFile,
    output_text: outputText,
    refusal,
  },
  partHints,
);

const outputParts = variants(
  'type',
  { input_text: inputText, input_image: inputImage, input_file: inputFile },
  partHints,
);

const toolOutput = required(
  textOr(list(outputParts)),
  'The result: a text, or parts of text, images and documents.',
);

const callIdMember = required(callId, 'The id of the call; its output repeats it.');

const NO_HOSTED_ITEMS = 'Hosted tools are not supported.';

export const itemShape = variants(
  'type',
  {
    message: record({
      type: itemType,
      role: required(
        text({ oneOf: ['user', 'assistant', 'system', 'developer'] }),
        'The role of the author.',
      ),
      content: required(textOr(list(parts)), 'The content: a text, or parts.'),
    }),
    function_call: record({
      type,
      call_id: callIdMember,
      name: required(calledName, 'The name of the called function.'),
      arguments: required(text(), 'Its arguments, as the JSON text that the model generated.'),
    }),
    function_call_output: record({ type, call_id: callIdMember, output: toolOutput }),
    custom_tool_call: record({
      type,
      call_id: callIdMember,
      name: required(calledName, 'The name of the called tool.'),
      input: required(text(), 'Its input, as the model generated it.'),
    }),
    custom_tool_call_output: record({ type, call_id: callIdMember, output: toolOutput }),
    reasoning: record({
      type,
      summary: optional(
        list(record({ type, text: required(text(), 'A part of the reasoning.') })),
        'Readable reasoning. Sent only to models that accept it.',
        'none',
      ),
      content: optional(
        list(record({ type, text: required(text(), 'A part of the reasoning.') })),
        'The same as `summary`, where there is none.',
        'none',
      ),
      encrypted_content: optional(
        text(),
        'What the response had here, unchanged. Models that reason between tool calls need it.',
        'none',
      ),
    }),
  },
  {
    item_reference: "Items are not stored. Send the items themselves; SDKs do with 'store' set to false.",
    compaction: 'Compaction is not supported.',
    computer_call: NO_HOSTED_ITEMS,
    computer_call_output: NO_HOSTED_ITEMS,
    web_search_call: NO_HOSTED_ITEMS,
    file_search_call: NO_HOSTED_ITEMS,
    code_interpreter_call: NO_HOSTED_ITEMS,
    image_generation_call: NO_HOSTED_ITEMS,
    local_shell_call: NO_HOSTED_ITEMS,
    local_shell_call_output: NO_HOSTED_ITEMS,
    shell_call: NO_HOSTED_ITEMS,
    shell_call_output: NO_HOSTED_ITEMS,
    apply_patch_call: NO_HOSTED_ITEMS,
    apply_patch_call_output: NO_HOSTED_ITEMS,
    tool_search_call: NO_HOSTED_ITEMS,
    tool_search_output: NO_HOSTED_ITEMS,
    mcp_call: NO_HOSTED_ITEMS,
    mcp_list_tools: NO_HOSTED_ITEMS,
    mcp_approval_request: NO_HOSTED_ITEMS,
    mcp_approval_response: NO_HOSTED_ITEMS,
  },
  'message',
);
