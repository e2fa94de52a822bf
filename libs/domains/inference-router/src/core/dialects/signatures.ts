import { asObject, type JsonObject } from '../completion/json';
import type { EncodeCall, ReasoningDetail } from './dialect';

// Providers sign reasoning and tool calls, and refuse the signatures of others. So where a model has several targets, the
// signed parts of a response name the target that signed them.

/** Names the signer in a signed part of a response. */
export function withSigner<Part extends object>(
  part: Part,
  signer: string | undefined,
): Part & { readonly signed_by?: string } {
  return signer === undefined ? part : { ...part, signed_by: signer };
}

/** Unsigned reasoning has no signer: no target needs it back. */
export function signedDetail(detail: ReasoningDetail, signer: string | undefined): ReasoningDetail {
  return isUnsigned(detail) ? detail : withSigner(detail, signer);
}

/** Whether it is a text that the gateway added for clients that read reasoning only here. */
export function isUnsigned({ type, index, signature, format }: ReasoningDetail): boolean {
  return type === 'reasoning.text' && (index ?? signature ?? format) === undefined;
}

/** @param signed an object with a signature: of `reasoning_details`, or the `extra_content` of a tool call. */
export function isOwnSignature(
  { signed_by: signer }: JsonObject,
  call: Pick<EncodeCall, 'signer' | 'ownsUntagged'>,
): boolean {
  return signer === undefined ? call.ownsUntagged : signer === call.signer;
}

/** Removes the signatures of other targets. */
export function withOwnSignatures(
  message: JsonObject,
  call: Pick<EncodeCall, 'signer' | 'ownsUntagged'>,
): JsonObject {
  const { reasoning_details: details, tool_calls: calls } = message;
  if (details === undefined && calls === undefined) return message;
  const isOwn = (value: unknown) => isOwnSignature(asObject(value) ?? {}, call);
  return {
    ...message,
    ...(Array.isArray(details) ? { reasoning_details: details.filter(isOwn) } : {}),
    ...(Array.isArray(calls)
      ? { tool_calls: calls.map((value: unknown) => withOwnExtraContent(asObject(value) ?? {}, isOwn)) }
      : {}),
  };
}

function withOwnExtraContent(call: JsonObject, isOwn: (value: unknown) => boolean): JsonObject {
  if (call['extra_content'] === undefined || isOwn(call['extra_content'])) return call;
  const { extra_content: _, ...rest } = call;
  return rest;
}
