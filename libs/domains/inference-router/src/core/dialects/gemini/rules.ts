import type { VendorRules } from '../vendor-rules';

/** At AI Studio and Vertex AI alike. */
export const rules: VendorRules = {
  // "Function calling", `FunctionDeclaration.name`: begins with a letter or an underscore.
  toolNames: { pattern: /^[a-zA-Z_][a-zA-Z0-9_.:-]*$/, maxLength: 64 },
  authorNames: undefined,
  // Ids are not sent; they match results to calls here.
  callIds: undefined,
  repeatsCallIds: false,
  // Images of a result are parts of their own.
  imagesInResults: true,
  unionsInTools: true,
  // `FunctionCallingConfig` limits the functions only in the modes that force a call.
  allowedTools: false,
  emptyReasoning: false,
  blankStops: true,
  exclusive: [],
};
