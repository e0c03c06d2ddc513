/** ComfyUI's literal types; a COMBO is declared by its list of choices. */
export type WidgetType = 'INT' | 'FLOAT' | 'STRING' | 'BOOLEAN' | 'COMBO'

/** A literal after coercion: 64-bit integers beyond 2^53 stay exact as bigint. */
export type Literal = number | bigint | string | boolean

/** An input that a prompt writes as a literal, with the bounds and hints that editors and validation share. */
export interface Widget<T> {
  readonly type: WidgetType
  /** As `/object_info` shows them: default, min, max, step, multiline … */
  readonly options: WidgetOptions
  /** The choices of a COMBO at this moment (files come and go). */
  readonly choices?: () => Promise<readonly Choice[]>
  /** The folder whose files the choices name; a host may bring files there that a prompt names otherwise, e.g. by URL. */
  readonly folder?: string
  /** True for combos that upstream declares with the word COMBO instead of the list itself. */
  readonly named?: boolean
  /** Turns the coerced literal into what the node gets. */
  read(literal: Literal): T
}

export type Choice = string | number | boolean

export interface WidgetOptions {
  readonly default?: Literal
  readonly min?: number | bigint
  readonly max?: number | bigint
  readonly [hint: string]: unknown
}

/** The largest seed: 2^64 - 1. */
export const MAX_SEED = 0xffff_ffff_ffff_ffffn

/** A whole number; `min`, `max` and `default` are enforced, `step` is an editor's hint. */
export const int = (options: WidgetOptions): Widget<number> => ({ type: 'INT', options, read: Number })

/** A whole number up to 64 bits, exact. */
export const wideInt = (options: WidgetOptions): Widget<bigint> => ({ type: 'INT', options, read: BigInt })

/** A seed: a whole number from 0 to 2^64 - 1, exact. */
export const seed = (options: WidgetOptions = {}): Widget<bigint> =>
  wideInt({ default: 0, min: 0, max: MAX_SEED, ...options })

/** A number. */
export const float = (options: WidgetOptions): Widget<number> => ({ type: 'FLOAT', options, read: Number })

/** A text. */
export const string = (options: WidgetOptions = {}): Widget<string> => ({ type: 'STRING', options, read: String })

/** True or false; as in ComfyUI any non-empty string is true. */
export const boolean = (options: WidgetOptions = {}): Widget<boolean> => ({ type: 'BOOLEAN', options, read: Boolean })

/** One of `choices`. */
export const choice = <const C extends Choice>(choices: readonly C[], options: WidgetOptions = {}): Widget<C> => ({
  type: 'COMBO',
  options,
  choices: async () => choices,
  read: (literal) => literal as C, // validation has found it among the choices
})

/** One of the strings that `list` gives when the prompt is validated, e.g. the files of a folder. */
export const listed = (list: () => Promise<readonly string[]>, options: WidgetOptions = {}): Widget<string> => ({
  type: 'COMBO',
  options,
  choices: list,
  read: String,
})

/** One of the files of `folder`, which `list` gives when the prompt is validated. */
export const fileOf = (
  folder: string,
  list: (folder: string) => Promise<readonly string[]>,
  options: WidgetOptions = {},
): Widget<string> => ({ ...listed(() => list(folder), options), folder })
