/** How events are written. All variants are legal SSE, and clients must parse them alike. */
export interface Framing {
  readonly crlf: boolean;
  readonly comments: boolean;
  readonly multiLine: boolean;
}

/** Renders one SSE event with `data` (JSON text or `[DONE]`). */
export type Frame = (data: string) => string;

const plainFrame: Frame = (data) => `data: ${data}\n\n`;

/**
 * Creates the frame function of a call; the plain one is a single concatenation.
 *
 * @param nameOf the name of an event; undefined: events have none.
 */
export function createFrame(framing: Framing, nameOf?: (data: string) => string | undefined): Frame {
  const isPlain = !framing.crlf && !framing.comments && !framing.multiLine;
  if (isPlain && nameOf === undefined) return plainFrame;
  const newline = framing.crlf ? '\r\n' : '\n';
  return (data) => {
    const lines = framing.multiLine ? indented(data) : [data];
    const name = nameOf?.(data) ?? (framing.comments ? 'message' : undefined);
    let frame = framing.comments ? `: emulated comment${newline}${newline}:${newline}` : '';
    if (name !== undefined) frame += `event: ${name}${newline}`;
    if (framing.comments) frame += `id: 1${newline}`;
    for (const line of lines) frame += `data: ${line}${newline}`;
    return frame + newline;
  };
}

/** Indented JSON can be split at its line ends: an SSE parser joins the lines with \n. */
function indented(data: string): readonly string[] {
  return data.startsWith('{') ? JSON.stringify(JSON.parse(data), null, 1).split('\n') : [data];
}
