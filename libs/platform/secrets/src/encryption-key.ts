/** Whether the text is an encryption key: 256 bits as base64. */
export function isEncryptionKey(text: string): boolean {
  return /^[A-Za-z0-9+/]{43}=$/.test(text);
}
