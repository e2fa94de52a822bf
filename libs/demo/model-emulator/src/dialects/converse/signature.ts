import { hashText } from '../../random';

const REDACTED = 'emulator-redacted:';

/** The signature of reasoning. Like the provider's, it is opaque and verified when it is sent back. */
export function signatureOf(reasoning: string): string {
  return Buffer.from(`emulator:${hashText(reasoning)}:${reasoning.length}`).toString('base64');
}

export function redact(reasoning: string): string {
  return Buffer.from(REDACTED + reasoning).toString('base64');
}

export function isRedacted(data: string): boolean {
  return Buffer.from(data, 'base64').toString().startsWith(REDACTED);
}
