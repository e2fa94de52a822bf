/** The queue of one connection's requests: internal to kafkajs, whose version is pinned. */
declare module 'kafkajs/src/network/requestQueue' {
  export default class RequestQueue {
    constructor(options: object);
    pending: unknown[];
    /** Unix milliseconds; -1 until a broker throttles the client. */
    throttledUntil: number;
    throttleCheckTimeoutId: NodeJS.Timeout | null;
    checkPendingRequests(): void;
    scheduleCheckPendingRequests(): void;
    destroy(): void;
  }
}
