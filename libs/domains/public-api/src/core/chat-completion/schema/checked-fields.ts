import type { JsonObject } from '../../json/json-value';

/** The body after its fields were checked against their shapes, without nulls. */
export interface CheckedFields {
  readonly model: string;
  readonly messages: readonly ChatMessage[];
  readonly max_tokens?: number;
  readonly max_completion_tokens?: number;
  readonly n?: number;
  readonly stream?: boolean;
  readonly stream_options?: { readonly include_usage?: boolean };
  readonly tools?: readonly ChatTool[];
  readonly tool_choice?: string | ChosenFunction | AllowedTools;
  readonly parallel_tool_calls?: boolean;
  readonly response_format?: ResponseFormat;
  readonly reasoning_effort?: string;
  readonly logprobs?: boolean;
  readonly top_logprobs?: number;
  readonly logit_bias?: Readonly<Record<string, number>>;
  readonly prediction?: { readonly content: string | readonly { readonly text: string }[] };
  readonly seed?: number;
  readonly user?: string;
  readonly safety_identifier?: string;
}

/** The fields whose text the model reads. */
export type ForwardedFields = Pick<CheckedFields, 'messages' | 'tools' | 'response_format' | 'prediction'>;

export interface ChatMessage {
  readonly role: string;
  readonly content?: string | readonly ContentPart[];
  readonly name?: string;
  readonly refusal?: string;
  readonly reasoning_content?: string;
  readonly reasoning_details?: readonly JsonObject[];
  readonly tool_calls?: readonly ToolCall[];
  readonly tool_call_id?: string;
}

export type ContentPart =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'refusal'; readonly refusal: string }
  | { readonly type: 'image_url'; readonly image_url: ImageUrl }
  | { readonly type: 'file'; readonly file: InlineFile };

export interface ImageUrl {
  readonly url: string;
  readonly detail?: 'auto' | 'low' | 'high';
}

/** A PDF document. */
export interface InlineFile {
  readonly file_data: string;
  readonly filename: string;
}

interface ToolCall {
  readonly id: string;
  readonly function: { readonly name: string; readonly arguments: string };
  readonly extra_content?: JsonObject;
}

interface ChatTool {
  readonly type: 'function';
  readonly function: {
    readonly name: string;
    readonly description?: string;
    readonly parameters?: JsonObject;
  };
}

interface ResponseFormat {
  readonly type: 'text' | 'json_object' | 'json_schema';
  readonly json_schema?: JsonObject;
}

interface ChosenFunction {
  readonly type: 'function';
  readonly function: { readonly name: string };
}

interface AllowedTools {
  readonly type: 'allowed_tools';
  readonly allowed_tools: { readonly tools: readonly ChosenFunction[] };
}
