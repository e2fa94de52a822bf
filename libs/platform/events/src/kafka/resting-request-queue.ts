import RequestQueue from 'kafkajs/src/network/requestQueue';

/** As kafkajs has it for what waits though no broker asked for less. */
const CHECK_PENDING_MS = 10;

/**
 * Lets the queues of kafkajs rest. Each looks for requests that wait once a
 * millisecond for as long as its connection lives, whether there are any or not
 * (tulios/kafkajs#1704), which costs two percent of a core per connection. A
 * request that waits is seen to when one before it ends, or here.
 */
export function letRequestQueuesRest(): void {
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
