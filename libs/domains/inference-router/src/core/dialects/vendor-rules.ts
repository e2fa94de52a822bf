/**
 * What a vendor accepts, where vendors differ. Each dialect has a file `rules.ts` with its values and their sources;
 * encoders read them. The demo emulator has rules of its own, written from the same references.
 */
export interface VendorRules {
  readonly toolNames: TextRule;
  /** `name` of messages. Undefined: any, or none is sent. */
  readonly authorNames: TextRule | undefined;
  /** Ids of tool calls. Undefined: any. */
  readonly callIds: TextRule | undefined;
  /** Whether an id of a call may occur again in a later turn. */
  readonly repeatsCallIds: boolean;
  /** Whether the results of tools may contain images and documents. */
  readonly imagesInResults: boolean;
  /** Whether the schema of a tool may have `anyOf`, `oneOf` or `allOf` at its top. */
  readonly unionsInTools: boolean;
  /** Whether `tool_choice` may be `allowed_tools`. */
  readonly allowedTools: boolean;
  /** Whether the reasoning of a turn may be empty, where the model needs that of turns with tool calls. */
  readonly emptyReasoning: boolean;
  /** Whether stop sequences may be white space. */
  readonly blankStops: boolean;
  /** Pairs of parameters that exclude each other. The first is sent. */
  readonly exclusive: readonly (readonly [sent: string, dropped: string])[];
}

export interface TextRule {
  readonly pattern: RegExp;
  /** In characters. */
  readonly maxLength: number;
}

export function fits(text: string, rule: TextRule | undefined): boolean {
  return rule === undefined || (text.length <= rule.maxLength && rule.pattern.test(text));
}

/** The question of a conversation that an assistant begins, for vendors that require one. They refuse empty text. */
export const FIRST_QUESTION = '.';
