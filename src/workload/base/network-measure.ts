/** What happens to a network in an engine process; `family` is the kind of model it belongs to, or `other`. */
export type NetworkMeasure =
  /** It takes up memory now. */
  | { readonly kind: 'opened'; readonly family: string; readonly seconds: number; readonly bytes: number }
  /** Its memory was given back. */
  | { readonly kind: 'released'; readonly family: string; readonly bytes: number }
  /** A network that removes noise has run once, on so many rows. */
  | { readonly kind: 'stepped'; readonly family: string; readonly seconds: number; readonly rows: number }
