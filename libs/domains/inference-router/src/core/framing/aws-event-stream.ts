import { EventStreamCodec } from '@smithy/eventstream-codec';
import { UpstreamFailure } from '../failure/upstream-failure';
import { MAX_EVENT_BYTES } from './sse-parser';

/** The length of a frame comes first, as four bytes. */
const LENGTH_BYTES = 4;
/** The length, the length of the headers, and the checksums of both and of the frame. */
const MIN_FRAME_BYTES = 16;

/** Bedrock pads events, so that their length does not reveal the text. */
const PADDING_KEY = ',"p":"';
const PADDING = /^[A-Za-z0-9]*$/;

const codec = new EventStreamCodec(
  (bytes) => (typeof bytes === 'string' ? bytes : utf8(bytes)),
  (text) => Buffer.from(text, 'utf8'),
);

/**
 * Parses an `application/vnd.amazon.eventstream` from bytes that may be split anywhere.
 *
 * An event becomes the JSON text `{"<event type>":<payload>}`, an exception `{"<exception type>":<payload>}`, and an
 * error without payload `{"__type":"<code>","message":"<message>"}`. A padding at the end of a payload is removed.
 *
 * Throws UpstreamFailure `failed` for a wrong checksum, a frame longer than MAX_EVENT_BYTES, and a stream that ends within
 * a frame. The events before the unreadable frame are returned first, with the reason in `failure`.
 */
export class AwsEventStreamParser {
  /** Bytes of the incomplete frame. */
  private unread: Uint8Array[] = [];
  private unreadBytes = 0;
  /** The bytes of the incomplete frame, once its length is known; until then, the bytes of the length. */
  private neededBytes = LENGTH_BYTES;
  failure: UpstreamFailure | undefined;

  /** @returns the events that these bytes complete, in order. */
  push(bytes: Uint8Array): string[] {
    if (this.failure) throw this.failure;
    this.unread.push(bytes);
    this.unreadBytes += bytes.length;
    if (this.unreadBytes < this.neededBytes) return [];
    const events: string[] = [];
    try {
      this.readFrames(this.take(), events);
    } catch (error) {
      this.failure = toFailure(error);
      if (events.length === 0) throw this.failure;
    }
    return events;
  }

  /** The connection has ended. */
  end(): string[] {
    if (this.failure) throw this.failure;
    if (this.unreadBytes > 0) throw unreadable(`it ended within a frame, after ${this.unreadBytes} bytes`);
    return [];
  }

  private take(): Buffer {
    const [first] = this.unread;
    const bytes =
      this.unread.length === 1 && first
        ? Buffer.from(first.buffer, first.byteOffset, first.byteLength)
        : Buffer.concat(this.unread);
    this.unread = [];
    this.unreadBytes = 0;
    return bytes;
  }

  private readFrames(bytes: Buffer, events: string[]): void {
    let at = 0;
    this.neededBytes = LENGTH_BYTES;
    while (bytes.length - at >= LENGTH_BYTES) {
      const frameBytes = bytes.readUInt32BE(at);
      if (frameBytes < MIN_FRAME_BYTES || frameBytes > MAX_EVENT_BYTES) {
        throw unreadable(`a frame has ${frameBytes} bytes, more than ${MAX_EVENT_BYTES} or too few`);
      }
      if (bytes.length - at < frameBytes) {
        this.neededBytes = frameBytes;
        break;
      }
      events.push(textOf(bytes.subarray(at, at + frameBytes)));
      at += frameBytes;
    }
    if (at === bytes.length) return;
    this.unread.push(bytes.subarray(at));
    this.unreadBytes = bytes.length - at;
  }
}

function textOf(frame: Uint8Array): string {
  const { headers, body } = codec.decode(frame);
  const header = (name: string): string => {
    const value = headers[name]?.value;
    return typeof value === 'string' ? value : '';
  };
  switch (header(':message-type')) {
    case 'event':
      return `{${JSON.stringify(header(':event-type'))}:${payloadText(body)}}`;
    case 'exception':
      return `{${JSON.stringify(header(':exception-type'))}:${payloadText(body)}}`;
    case 'error':
      return JSON.stringify({ __type: header(':error-code'), message: header(':error-message') });
    default:
      throw unreadable('a frame has no known message type');
  }
}

function payloadText(body: Uint8Array): string {
  const text = utf8(body);
  if (text === '') return '{}';
  if (!text.endsWith('"}')) return text;
  // Without escaping, this key cannot be part of a JSON string.
  const at = text.lastIndexOf(PADDING_KEY);
  if (at === -1 || !PADDING.test(text.slice(at + PADDING_KEY.length, -2))) return text;
  return `${text.slice(0, at)}}`;
}

function utf8(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
}

function toFailure(error: unknown): UpstreamFailure {
  if (error instanceof UpstreamFailure) return error;
  return unreadable(error instanceof Error ? error.message : String(error));
}

function unreadable(reason: string): UpstreamFailure {
  return new UpstreamFailure('failed', { detail: `the event stream is unreadable: ${reason}` });
}
