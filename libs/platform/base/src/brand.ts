declare const brand: unique symbol;

/** A primitive that cannot be swapped for another of the same shape by accident. */
export type Brand<Base, Name extends string> = Base & { readonly [brand]: Name };
