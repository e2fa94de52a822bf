import type {
  ChoiceDelta,
  DecodedEvent,
  ReadResponse,
  ReasoningDetail,
  ReportedUsage,
} from '../core/dialects/dialect';

/** The first choice of a decoded stream or response. */
export interface Assembled {
  content: string;
  reasoning: string;
  details: ReasoningDetail[];
  toolCalls: { id: string | undefined; name: string; arguments: string }[];
  finishReason: string | undefined;
  usage: ReportedUsage | undefined;
  done: boolean;
}

/** @param events of one stream, or one response. */
export function assemble(events: readonly (DecodedEvent | ReadResponse)[]): Assembled {
  const whole: Assembled = {
    content: '',
    reasoning: '',
    details: [],
    toolCalls: [],
    finishReason: undefined,
    usage: undefined,
    done: false,
  };
  for (const event of events) {
    for (const choice of event.choices) add(whole, choice);
    if (event.usage) whole.usage = event.usage;
    if ('done' in event && event.done === true) whole.done = true;
  }
  return whole;
}

function add(whole: Assembled, choice: ChoiceDelta): void {
  whole.content += choice.content ?? '';
  whole.reasoning += choice.reasoning ?? '';
  whole.details.push(...(choice.reasoningDetails ?? []));
  for (const call of choice.toolCalls) {
    const at = call.index ?? whole.toolCalls.length;
    const known = (whole.toolCalls[at] ??= { id: undefined, name: '', arguments: '' });
    known.id ??= call.id;
    known.name += call.name ?? '';
    known.arguments += call.arguments;
  }
  whole.finishReason = choice.finishReason ?? whole.finishReason;
}

/** The headers of an error response that has none. */
export const noHeader = () => undefined;
