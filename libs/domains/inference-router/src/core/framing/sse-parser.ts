/** The longest event that is accepted, in bytes. Chunks of completions are far shorter. */
export const MAX_EVENT_BYTES = 1_048_576;
/** The longest JSON object in place of a stream, in bytes. */
const MAX_WHOLE_BYTES = 32 * MAX_EVENT_BYTES;

/** A provider sent an event longer than MAX_EVENT_BYTES. */
export class SseTooLongError extends Error {
  override readonly name = 'SseTooLongError';

  constructor(maxBytes = MAX_EVENT_BYTES) {
    super(`an event is longer than ${maxBytes} bytes`);
  }
}

const LF = 0x0a;
const CR = 0x0d;
const SPACE = 0x20;
const OPEN_BRACE = 0x7b;

/**
 * Parses server-sent events from bytes that may be split anywhere, even within a
 * character. Only `data` is used; comments and other fields are skipped.
 *
 * Only whole lines are decoded: LF and CR are never part of a longer UTF-8
 * sequence, so no decoder state is needed.
 */
export class SseParser {
  /** Bytes of the incomplete line. */
  private unread: Uint8Array[] = [];
  private unreadBytes = 0;
  /** Data lines of the incomplete event. */
  private data: string | undefined;
  private started = false;
  /** The last line ended with CR, so a following LF is part of its line end. */
  private afterCr = false;
  /** Some servers ignore `stream`. No line of an event starts with a brace. Undefined until the first byte that is no space. */
  isWhole: boolean | undefined;

  /** @returns the data of all events that these bytes complete, in order. */
  push(bytes: Uint8Array): string[] {
    if ((this.isWhole ??= startsWithBrace(bytes))) {
      this.buffer(bytes);
      return [];
    }
    const end = Math.max(bytes.lastIndexOf(LF), bytes.lastIndexOf(CR)) + 1;
    if (end === 0) {
      this.buffer(bytes);
      return [];
    }
    const lines = this.decode(bytes.subarray(0, end));
    if (end < bytes.length) this.buffer(bytes.subarray(end));
    return this.readLines(lines);
  }

  /**
   * The connection has ended. A last event without its blank line is returned, since
   * several servers omit it.
   */
  end(): string[] {
    if (this.isWhole) return [this.decode(new Uint8Array(0))];
    const last = this.unreadBytes > 0 ? `${this.decode(new Uint8Array(0))}\n\n` : '\n';
    return this.readLines(last);
  }

  private buffer(bytes: Uint8Array): void {
    this.unread.push(bytes);
    this.unreadBytes += bytes.length;
    const maxBytes = this.isWhole ? MAX_WHOLE_BYTES : MAX_EVENT_BYTES;
    if (this.unreadBytes > maxBytes) throw new SseTooLongError(maxBytes);
  }

  private decode(bytes: Uint8Array): string {
    let text: string;
    if (this.unreadBytes === 0) {
      text = utf8(bytes);
    } else {
      text = Buffer.concat([...this.unread, bytes]).toString('utf8');
      this.unread = [];
      this.unreadBytes = 0;
    }
    if (!this.started) {
      this.started = true;
      if (text.startsWith('\uFEFF')) text = text.slice(1);
    }
    return this.withoutCr(text);
  }

  private withoutCr(text: string): string {
    const lines = this.afterCr && text.startsWith('\n') ? text.slice(1) : text;
    if (text.length > 0) this.afterCr = text.endsWith('\r');
    return lines.includes('\r') ? lines.replace(/\r\n?/g, '\n') : lines;
  }

  private readLines(text: string): string[] {
    const events: string[] = [];
    let start = 0;
    for (let end = text.indexOf('\n'); end !== -1; end = text.indexOf('\n', start)) {
      if (end > start) {
        this.readLine(text, start, end);
      } else if (this.data !== undefined) {
        events.push(this.data);
        this.data = undefined;
      }
      start = end + 1;
    }
    return events;
  }

  private readLine(text: string, start: number, end: number): void {
    if (!text.startsWith('data', start)) return;
    let value: string;
    if (text.charCodeAt(start + 4) === 58 /* : */) {
      value = text.slice(text.charCodeAt(start + 5) === 32 ? start + 6 : start + 5, end);
    } else if (end === start + 4) {
      value = '';
    } else {
      return;
    }
    this.data = this.data === undefined ? value : `${this.data}\n${value}`;
    // A character has at least one byte, so this bounds events with many lines, too.
    if (this.data.length > MAX_EVENT_BYTES) throw new SseTooLongError();
  }
}

/** @returns undefined for white space alone. */
function startsWithBrace(bytes: Uint8Array): boolean | undefined {
  const first = bytes.find((byte) => byte !== SPACE && byte !== LF && byte !== CR);
  return first === undefined ? undefined : first === OPEN_BRACE;
}

function utf8(bytes: Uint8Array): string {
  const view = Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return view.toString('utf8');
}
