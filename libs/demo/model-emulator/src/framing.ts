/** How events are written. All variants are legal SSE, and clients must parse them alike. */
export interface Framing {
  readonly crlf: boolean;
  readonly comments: boolean;
  readonly multiLine: boolean;
}

/** Renders one SSE event with `data` (JSON text or `[DONE]`). */
export type Frame = (data: string) => string;

const plainFrame: Frame = (data) => `data: ${data}\n\n`;

/** Creates the frame function of a call; the plain one is a single concatenation. */
export function createFrame(framing: Framing): Frame {
  if (!framing.crlf && !framing.comments && !framing.multiLine) return plainFrame;
  const newline = framing.crlf ? '\r\n' : '\n';
  return (data) => {
    // Indented JSON can be split at its line ends: an SSE parser joins the lines with \n.
    const lines =
      framing.multiLine && data.startsWith('{')
        ? JSON.stringify(JSON.parse(data), null, 1).split('\n')
        : [data];
    let frame = framing.comments
      ? `: emulated comment${newline}${newline}:${newline}event: message${newline}id: 1${newline}`
      : '';
    for (const line of lines) frame += `data: ${line}${newline}`;
    return frame + newline;
  };
}
