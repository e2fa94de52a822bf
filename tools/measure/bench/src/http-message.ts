/** An HTTP/1.1 message, as far as the benchmark needs it. Text is latin1, so a character is a byte. */
export interface HttpMessage {
  /** `POST /path HTTP/1.1` or `HTTP/1.1 200 OK`. */
  readonly startLine: string;
  /** The headers as one lower-case text. */
  readonly head: string;
  readonly body: string;
}

/**
 * Reads the messages of one keep-alive connection from arbitrarily split text. Minimal, for both sides of
 * a benchmark on loopback: supports Content-Length and chunked bodies, but no trailers.
 */
export class HttpMessageReader {
  private buffer = '';
  private position = 0;
  private startLine = '';
  private head = '';
  /** Remaining characters of the body; -1: chunked; undefined: the head is incomplete. */
  private bodyLength: number | undefined;
  private chunks = '';

  constructor(
    private readonly onMessage: (message: HttpMessage) => void,
    private readonly onFirstBody: () => void = () => undefined,
  ) {}

  push(text: string): void {
    this.buffer = this.position === this.buffer.length ? text : this.buffer.slice(this.position) + text;
    this.position = 0;
    while (this.readHead() && this.readBody()) {
      // Reads complete messages only.
    }
  }

  private readHead(): boolean {
    if (this.bodyLength !== undefined) return true;
    const end = this.buffer.indexOf('\r\n\r\n', this.position);
    if (end < 0) return false;
    const lineEnd = this.buffer.indexOf('\r\n', this.position);
    this.startLine = this.buffer.slice(this.position, lineEnd);
    this.head = this.buffer.slice(lineEnd, end).toLowerCase();
    this.position = end + 4;
    this.chunks = '';
    if (this.head.includes('\r\ntransfer-encoding: chunked')) {
      this.bodyLength = -1;
      return true;
    }
    const length = this.head.indexOf('\r\ncontent-length:');
    this.bodyLength = length < 0 ? 0 : Number.parseInt(this.head.slice(length + 17, length + 33), 10);
    return true;
  }

  private readBody(): boolean {
    const length = this.bodyLength ?? 0;
    if (length >= 0) {
      if (this.buffer.length - this.position < length) return false;
      const body = this.buffer.slice(this.position, this.position + length);
      this.position += length;
      this.finish(body);
      return true;
    }
    for (;;) {
      const lineEnd = this.buffer.indexOf('\r\n', this.position);
      if (lineEnd < 0) return false;
      const size = Number.parseInt(this.buffer.slice(this.position, lineEnd), 16);
      if (Number.isNaN(size)) throw new Error('a chunk without a size');
      const end = lineEnd + 2 + size + 2;
      if (this.buffer.length < end) return false;
      this.position = end;
      if (size === 0) {
        this.finish(this.chunks);
        return true;
      }
      if (this.chunks === '') this.onFirstBody();
      this.chunks += this.buffer.slice(lineEnd + 2, end - 2);
    }
  }

  private finish(body: string): void {
    this.bodyLength = undefined;
    this.onMessage({ startLine: this.startLine, head: this.head, body });
  }
}
