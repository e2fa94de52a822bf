/** The caller hung up: nobody is left to answer. */
export class ClientGone extends Error {
  override readonly name = 'ClientGone';

  constructor() {
    super('the caller hung up');
  }
}
