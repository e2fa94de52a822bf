import type { JsonObject } from '../../completion/json';

/**
 * Gemini signs parts of a response, and a later turn has to repeat the signature on the same part. Function calls carry
 * it in `extra_content`. The text of all parts arrives as one `content`, so the signature of a text part records which
 * characters it covers. It travels as `data` of a detail `reasoning.encrypted`, in the form `start.length.signature`.
 */
export interface TextSignature {
  /** In UTF-16 code units of the content. */
  readonly start: number;
  readonly length: number;
  /** In base64. */
  readonly signature: string;
}

const FORMAT = /^(\d{1,9})\.(\d{1,9})\.([A-Za-z0-9+/_-]+={0,2})$/;

export function renderTextSignature({ start, length, signature }: TextSignature): string {
  return `${start}.${length}.${signature}`;
}

/** @returns undefined for data of another form. */
export function parseTextSignature(data: string): TextSignature | undefined {
  const match = FORMAT.exec(data);
  if (!match) return undefined;
  const [, start, length, signature] = match as unknown as [string, string, string, string];
  return { start: Number(start), length: Number(length), signature };
}

/**
 * Divides a text into the parts that the model sent: signed ones, and the unsigned text between them. A signature that
 * does not fit the text, since the client changed it, covers what is left of its characters.
 */
export function signedParts(text: string, signatures: readonly TextSignature[]): JsonObject[] {
  const parts: JsonObject[] = [];
  let end = 0;
  for (const { start, length, signature } of signatures.toSorted((a, b) => a.start - b.start)) {
    const from = Math.min(Math.max(start, end), text.length);
    if (from > end) parts.push({ text: text.slice(end, from) });
    end = Math.max(from, Math.min(start + length, text.length));
    parts.push({ text: text.slice(from, end), thoughtSignature: signature });
  }
  if (end < text.length) parts.push({ text: text.slice(end) });
  return parts;
}
