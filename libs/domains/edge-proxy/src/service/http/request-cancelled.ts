/** The client disconnected before the response was complete, so no error is sent. */
export class RequestCancelled extends Error {
  override readonly name = 'RequestCancelled';

  constructor() {
    super('the client cancelled the request');
  }
}
