import { hashText } from '../../random';

/** The signature of a block of thinking. Like the provider's, it is opaque and verified when it is sent back. */
export function signatureOf(thinking: string): string {
  return Buffer.from(`emulator:${hashText(thinking)}:${thinking.length}`).toString('base64');
}

const REDACTED = 'emulator-redacted:';

export function redact(thinking: string): string {
  return Buffer.from(REDACTED + thinking).toString('base64');
}

export function isRedacted(data: string): boolean {
  return Buffer.from(data, 'base64').toString().startsWith(REDACTED);
}
