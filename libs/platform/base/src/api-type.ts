/** The public APIs of generations, as `api_type` names them. */
export const apiTypes = ['completions', 'messages', 'responses', 'embeddings'] as const;
export type ApiType = (typeof apiTypes)[number];

/** Absent from services of older versions, which generate completions only. */
export function apiTypeOf(text: string | undefined): ApiType {
  return apiTypes.find((each) => each === text) ?? 'completions';
}
