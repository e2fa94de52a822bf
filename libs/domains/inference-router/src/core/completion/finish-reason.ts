/** The public finish reasons. A failure is "error", which only the edge sends. */
export type FinishReason = 'stop' | 'length' | 'tool_calls' | 'content_filter';
