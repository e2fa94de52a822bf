import type { Capability } from '@gateway/base';
import { any, type Shape } from './shape';

/**
 * What the gateway does with a top-level field.
 * - `honour`: uses it.
 * - `forward`: validates it and passes it to the model.
 * - `accept`: validates and ignores it.
 * - `reject`: returns `unknown_parameter`; listed for its hint, and because null means absent.
 */
export type Disposition = 'honour' | 'forward' | 'accept' | 'reject';

export interface Field {
  readonly name: string;
  readonly disposition: Disposition;
  readonly shape: Shape;
  /** For the API documentation: its meaning and, for a quantity, its unit. */
  readonly doc: string;
  /** The default, which follows "Default: " in the documentation; undefined for a required field. */
  readonly absent?: string;
  /** The model capability that the field requires. */
  readonly capability?: Capability;
  /** Without the capability, the request is refused or the field, a hint, is dropped. */
  readonly ifUnsupported?: 'refuse' | 'drop';
  /** Added to the message of a rejected field. */
  readonly hint?: string;
}

/** A required field. */
export const required = (name: string, shape: Shape, doc: string): Field => ({
  name,
  disposition: 'honour',
  shape,
  doc,
});

export const honour = (name: string, shape: Shape, doc: string, absent: string): Field => ({
  name,
  disposition: 'honour',
  shape,
  doc,
  absent,
});

export const forward = (
  name: string,
  shape: Shape,
  doc: string,
  absent: string,
  support: Pick<Field, 'capability' | 'ifUnsupported'> = {},
): Field => ({ name, disposition: 'forward', shape, doc, absent, ...support });

export const accept = (name: string, shape: Shape, doc: string, absent: string): Field => ({
  name,
  disposition: 'accept',
  shape,
  doc,
  absent,
});

/** The default of fields that the model decides. */
export const AS_THE_MODEL = "the model's own";

export const reject = (name: string, hint?: string): Field => ({
  name,
  disposition: 'reject',
  shape: any(),
  doc: 'Not supported.',
  hint,
});
