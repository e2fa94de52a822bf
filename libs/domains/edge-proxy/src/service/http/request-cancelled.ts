/** The caller cancelled the request by closing its connection: there is nobody to answer. */
export class RequestCancelled extends Error {
  override readonly name = 'RequestCancelled';

  constructor() {
    super('the caller cancelled the request');
  }
}
