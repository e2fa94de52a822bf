/** The message itself, which nobody can change any more, nor what is in it but bytes. */
export function frozenMessage(message: unknown): unknown {
  if (typeof message !== 'object' || message === null || ArrayBuffer.isView(message)) return message;
  Object.freeze(message);
  for (const value of Object.values(message)) frozenMessage(value);
  return message;
}
