import RequestQueue from 'kafkajs/src/network/requestQueue';

/** The interval of kafkajs for pending requests without a throttle. */
const CHECK_PENDING_MS = 10;

/**
 * Replaces `RequestQueue.prototype.scheduleCheckPendingRequests` of kafkajs
 * 2.2.4, so that it sets no timer while no request is pending. The original sets
 * one every millisecond for as long as the connection lives
 * (tulios/kafkajs#1704), which costs 2 % of a core per connection.
 */
export function patchRequestQueue(): void {
  RequestQueue.prototype.scheduleCheckPendingRequests = function (this: RequestQueue): void {
    if (this.pending.length === 0 || this.throttleCheckTimeoutId !== null) return;
    const throttledMs = this.throttledUntil - Date.now();
    this.throttleCheckTimeoutId = setTimeout(
      () => {
        this.throttleCheckTimeoutId = null;
        this.checkPendingRequests();
      },
      throttledMs > 0 ? throttledMs : CHECK_PENDING_MS,
    );
  };
}
