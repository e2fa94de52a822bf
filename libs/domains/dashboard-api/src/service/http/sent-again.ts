/** The checked query of a page, as an owner reads it from a request. */
export function sentAgain<Query extends { readonly page_size: number }>(query: Query) {
  return { ...query, page_size: String(query.page_size) };
}
