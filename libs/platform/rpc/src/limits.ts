/** The largest message that any transport carries, in bytes, in either direction. */
export const MAX_MESSAGE_BYTES = 64 * 1024 * 1024;

/** The largest error detail that crosses, in bytes; beyond it metadata and then text is left out. */
export const MAX_ERROR_DETAIL_BYTES = 16 * 1024;
