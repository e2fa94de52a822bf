declare const brand: unique symbol;

/** A nominal type: a primitive that cannot be confused with another of the same type. */
export type Brand<Base, Name extends string> = Base & { readonly [brand]: Name };
