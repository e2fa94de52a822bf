import { hashText } from '../../random';

/** The value that Google documents for a signature that the client does not have. */
const SKIP_VALIDATION = 'skip_thought_signature_validator';

/** A signature of the part of a response with this text, in base64. */
export function signatureOf(text: string): string {
  return Buffer.from(`emulated thought ${hashText(text)}`).toString('base64');
}

/** Whether a signature that a client sent belongs to the text, or is the documented replacement. */
export function isSignatureOf(signature: unknown, text: string): boolean {
  return signature === SKIP_VALIDATION || signature === signatureOf(text);
}

/** The text of a function call for its signature. */
export function signedCallText(name: string, args: string): string {
  return `${name}\u0000${args}`;
}
