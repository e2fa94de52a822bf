/** The checked query of a list as text again, which its owner checks once more. */
export function forwardedQuery<Query extends { readonly page_size: number }>(query: Query) {
  return { ...query, page_size: String(query.page_size) };
}
